"""The engine against the stored goldens: logits of prompts, and greedy tokens.

RAPT_BINARY names the binary under test; checkpoints are made once in build/golden-checkpoints.
"""

import io
import os
import subprocess
from pathlib import Path

import golden_lib
import numpy as np
import pytest
from golden_lib import Golden, load_golden, relative_error

REFERENCE_LIMIT = 1e-4
# The default mode rounds keys and values to BF16.
DEFAULT_LIMIT = 1e-2
TIMEOUT_SECONDS = 600

WIDE = [case for case in golden_lib.cases() if load_golden(case[0]).is_wide]


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("RAPT_BINARY")
    if not path:
        pytest.skip("RAPT_BINARY does not name the rapt binary")
    if not Path(path).is_file():
        pytest.fail(f"RAPT_BINARY is {path}, which is not a file")
    return path


@pytest.fixture(scope="session")
def checkpoints() -> Path:
    folder = golden_lib.GOLDEN_DIR.parents[1] / "build" / "golden-checkpoints"
    golden_lib.write_checkpoints(folder)
    return folder


def run_rapt(arguments: list[str]) -> bytes:
    result = subprocess.run(arguments, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    assert result.returncode == 0, result.stderr.decode(errors="replace")[-2000:]
    return result.stdout


def write_prompt(golden: Golden, folder: Path) -> str:
    path = folder / "prompt.txt"
    path.write_text(",".join(map(str, golden.prompt)), encoding="utf-8")
    return str(path)


def engine_logits(binary: str, model: Path, prompt: str, golden: Golden, *flags) -> np.ndarray:
    """Logits at the golden's positions."""
    command = [binary, "logits", str(model), "--token-ids-file", prompt]
    output = run_rapt([*command, "--positions", "all", "--format", "npy", *flags])
    logits = np.load(io.BytesIO(output))
    assert logits.dtype == np.float32
    assert logits.shape == (len(golden.prompt), golden.logits.shape[1])
    return logits[golden.positions]


@pytest.mark.parametrize("name, layout", golden_lib.cases())
def test_checkpoint_bytes(checkpoints: Path, name: str, layout: str) -> None:
    golden = load_golden(name)
    folder = golden.checkpoint(checkpoints, layout)
    assert golden_lib.file_digests(folder) == golden.files[layout]


@pytest.mark.parametrize("name, layout", golden_lib.cases())
def test_reference_logits(
    binary: str, checkpoints: Path, tmp_path: Path, name: str, layout: str
) -> None:
    golden = load_golden(name)
    model, prompt = golden.checkpoint(checkpoints, layout), write_prompt(golden, tmp_path)
    ours = engine_logits(binary, model, prompt, golden, "--reference")
    assert relative_error(ours, golden.logits) < REFERENCE_LIMIT


@pytest.mark.parametrize("name, layout", WIDE)
def test_default_logits(
    binary: str, checkpoints: Path, tmp_path: Path, name: str, layout: str
) -> None:
    golden = load_golden(name)
    model, prompt = golden.checkpoint(checkpoints, layout), write_prompt(golden, tmp_path)
    ours = engine_logits(binary, model, prompt, golden)
    assert relative_error(ours, golden.logits) < DEFAULT_LIMIT


@pytest.mark.parametrize("name, layout", golden_lib.cases())
def test_greedy_tokens(
    binary: str, checkpoints: Path, tmp_path: Path, name: str, layout: str
) -> None:
    golden = load_golden(name)
    model, prompt = golden.checkpoint(checkpoints, layout), write_prompt(golden, tmp_path)
    command = [binary, "run", str(model), "--token-ids-file", prompt, "--temperature", "0"]
    count = str(len(golden.greedy_tokens))
    flags = ["--max-tokens", count, "--ignore-eos", "--print-token-ids", "--reference"]
    output = run_rapt([*command, *flags]).decode()
    assert [int(token) for token in output.split(",")] == golden.greedy_tokens
