"""The binary under test."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("RAPT_BINARY")
    if not path:
        pytest.skip("RAPT_BINARY does not name the rapt binary")
    if not Path(path).is_file():
        pytest.fail(f"RAPT_BINARY is {path}, which is not a file")
    return path


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The file of SmolLM2-135M-Instruct, as ./run fetches it; without it these tests are skipped."""
    tool = Path(__file__).resolve().parents[2] / "tools" / "fetch_smollm2.py"
    done = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    return Path(done.stdout.strip())
