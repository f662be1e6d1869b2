"""The stored goldens, for the test-suite: which there are, what they hold, where their models lie.

Needs numpy. See README.md beside this file.
"""

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

GOLDEN_DIR = Path(__file__).resolve().parent
# Against hanging only: the plain kernels take minutes for long prompts, more on a busy machine.
TIMEOUT_SECONDS = 3600
_MAKE_CHECKPOINT = GOLDEN_DIR.parents[1] / "tools" / "make_checkpoint.py"


@dataclass(frozen=True)
class Golden:
    """One case: a random model, a prompt, and what transformers computed for it."""

    name: str
    about: str
    # As in layouts.py and gguf_layouts.py: hf, original, bf16, gguf, ... All hold the same values.
    layouts: list[str]
    prompt: list[int]
    # The prompt positions whose logits are stored.
    positions: list[int]
    greedy_tokens: list[int]
    # For each greedy token, how far the second best was below it.
    token_gaps: list[float]
    # The nearest that any router came to another choice, where it could reach a stored number.
    min_router_gap: float
    # SHA-256 by layout and file name.
    files: dict[str, dict[str, str]]

    @cached_property
    def logits(self) -> np.ndarray:
        """float32 [len(positions), vocab]"""
        return np.load(GOLDEN_DIR / f"{self.name}.npy")

    def checkpoint(self, checkpoints: Path, layout: str) -> Path:
        """Where write_checkpoints() put this case's model."""
        return checkpoints / self.name / layout

    @property
    def is_wide(self) -> bool:
        """True where routing stands up to a few per cent of noise, as quantised modes make."""
        return self.min_router_gap >= 0.2


def golden_names() -> list[str]:
    return sorted(path.stem for path in GOLDEN_DIR.glob("*.json"))


def load_golden(name: str) -> Golden:
    text = (GOLDEN_DIR / f"{name}.json").read_text(encoding="utf-8")
    return Golden(name=name, **json.loads(text))


def all_goldens() -> list[Golden]:
    return [load_golden(name) for name in golden_names()]


def cases() -> list[tuple[str, str]]:
    """Every (case name, layout)."""
    return [(golden.name, layout) for golden in all_goldens() for layout in golden.layouts]


def write_checkpoints(folder: Path) -> None:
    """Makes all models, in a few seconds; at once where they are there already."""
    command = [sys.executable, str(_MAKE_CHECKPOINT), "--all-goldens", "--out", str(folder)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def file_digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file of a checkpoint folder."""
    paths = sorted(folder.iterdir())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def run_rapt(arguments: list[str]) -> bytes:
    """What the binary writes; fails with what it says."""
    result = subprocess.run(arguments, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    assert result.returncode == 0, result.stderr.decode(errors="replace")[-2000:]
    return result.stdout


def cpu_levels() -> list[str]:
    """The values of --cpu-level that this machine can run."""
    features = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    levels = ["scalar"]
    if {"avx2", "fma", "f16c"} <= features:
        levels.append("avx2")
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= features:
        levels.append("avx512")
        if "avx512_vnni" in features:
            levels.append("avx512vnni")
    return levels


def relative_error(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The norm of the difference over the norm of `theirs`, in float64; infinite for a NaN."""
    difference = ours.astype(np.float64) - theirs.astype(np.float64)
    error = np.linalg.norm(difference) / np.linalg.norm(theirs.astype(np.float64))
    return float(error) if np.isfinite(error) else float("inf")
