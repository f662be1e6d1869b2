"""The binary under test."""

import os
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
