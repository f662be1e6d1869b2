"""Fixtures of the end-to-end tests: the real binary serving a toy checkpoint.

RAPT_BINARY names the binary (default: build/release/rapt), RAPT_SCRIPTED_SERVER the server whose
model says what a test wants (default: beside that binary).
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from openai import OpenAI
from rapt_process import API_KEY, RaptServer, ScriptedServer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def binary() -> Path:
    path = Path(os.environ.get("RAPT_BINARY", ROOT / "build" / "release" / "rapt"))
    if not path.exists():
        pytest.fail(f"{path} is not there: build it, or name another with RAPT_BINARY")
    return path


@pytest.fixture(scope="session")
def checkpoint() -> Path:
    """A toy with gpt-oss's vocabulary that answers in short sentences and then stops."""
    out = ROOT / "build" / "e2e" / "demo"
    out.parent.mkdir(parents=True, exist_ok=True)
    tool = ROOT / "tools" / "make_checkpoint.py"
    subprocess.run([sys.executable, tool, "--preset", "demo", "--out", out], check=True)
    return out


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The file of SmolLM2-135M-Instruct, as ./run fetches it; without it these tests are skipped."""
    tool = ROOT / "tools" / "fetch_smollm2.py"
    done = subprocess.run([sys.executable, tool], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    return Path(done.stdout.strip())


@pytest.fixture(scope="session")
def server(binary: Path, checkpoint: Path) -> Iterator[RaptServer]:
    """The server that tests share when they leave it as they found it."""
    process = RaptServer(
        binary,
        checkpoint,
        *("--api-key", API_KEY, "--conversation-date", "2025-06-28"),
        *("--max-model-len", "4096", "--kv-cache-memory-bytes", "256MiB"),
    )
    yield process
    assert process.stop() == 0, process.log()


@pytest.fixture
def start_server(binary: Path, checkpoint: Path) -> Iterator[Callable[..., RaptServer]]:
    """Starts servers of a test's own, with the flags it gives."""
    started: list[RaptServer] = []

    def start(*flags: str, **options) -> RaptServer:
        memory = ("--kv-cache-memory-bytes", "64MiB")
        process = RaptServer(binary, checkpoint, *memory, *flags, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.stop()


@pytest.fixture
def client(server: RaptServer) -> Iterator[OpenAI]:
    with server.openai() as made:
        yield made


@pytest.fixture(scope="session")
def scripted(binary: Path) -> Iterator[ScriptedServer]:
    """The server of the tests that say what the model answers."""
    path = Path(os.environ.get("RAPT_SCRIPTED_SERVER", binary.parent / "scripted_server"))
    if not path.exists():
        pytest.fail(f"{path} is not there: build it, or name another with RAPT_SCRIPTED_SERVER")
    process = ScriptedServer(path)
    yield process
    assert process.stop() == 0, process.log()
