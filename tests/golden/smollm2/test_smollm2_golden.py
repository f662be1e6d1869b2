"""A real model, SmolLM2-135M-Instruct in Q4_1, against what transformers computes with its weights.

RAPT_SLOW_TESTS=1 runs every prompt in the f32 mode and with --reference too, which takes a quarter of
an hour.
"""

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from golden_lib import relative_error, run_rapt

FOLDER = Path(__file__).resolve().parent
GOLDEN = json.loads((FOLDER / "golden.json").read_text(encoding="utf-8"))
PROMPTS = {prompt["name"]: prompt for prompt in GOLDEN["prompts"]}
NUM_IDS = 1024
# By flags: the most that logits may be off by, and norms of whole rows.
LIMITS = {
    "default": ([], 1e-2),
    "i16-f32": (["--kv-cache-dtype", "f32"], 1e-3),
    "f32-f32": (["--linear-mode", "f32", "--kv-cache-dtype", "f32"], 1e-4),
}
REFERENCE_LIMIT = 1e-4
# The longest prompts that are not slow.
MAX_SHORT = {"default": 2000, "i16-f32": 2000, "f32-f32": 256, "reference": 17}
PERPLEXITY_LIMIT = 1e-3


@cache
def stored_ids() -> np.ndarray:
    """Of the vocabulary: those whose logits are stored."""
    return np.array(GOLDEN["ids"])


@cache
def stored_logits() -> dict[str, np.ndarray]:
    """By prompt, [positions, ids]."""
    rows = np.load(FOLDER / "logits.npy")
    found, begin = {}, 0
    for name, prompt in PROMPTS.items():
        end = begin + len(prompt["positions"])
        found[name] = rows[begin:end]
        begin = end
    assert begin == len(rows)
    return found


def compare(
    binary: str, model: Path, name: str, folder: Path, flags: list[str]
) -> tuple[float, float]:
    """How far the logits are off, and how far the one that is off most."""
    prompt = PROMPTS[name]
    tokens, out = folder / "tokens.txt", folder / "logits.npy"
    tokens.write_text(",".join(map(str, prompt["tokens"])), encoding="utf-8")
    command = [binary, "logits", str(model), "--token-ids-file", str(tokens), "--format", "npy"]
    out.write_bytes(run_rapt([*command, *flags]))
    rows = np.array(np.load(out, mmap_mode="r")[prompt["positions"]])
    out.unlink()
    expected = stored_logits()[name]
    ours = rows[:, stored_ids()]
    norms = np.linalg.norm(rows.astype(np.float64), axis=1)
    error = relative_error(ours, expected)
    largest = float(np.abs(ours - expected).max())
    return max(error, relative_error(norms, np.array(prompt["norms"]))), largest


def greedy_tokens(binary: str, model: Path, name: str, folder: Path, flags: list[str]) -> list[int]:
    prompt = PROMPTS[name]
    tokens = folder / "tokens.txt"
    tokens.write_text(",".join(map(str, prompt["tokens"])), encoding="utf-8")
    command = [binary, "run", str(model), "--token-ids-file", str(tokens), "--temperature", "0"]
    count = str(len(prompt["greedy_tokens"]))
    more = ["--max-tokens", count, "--ignore-eos", "--print-token-ids", *flags]
    return [int(token) for token in run_rapt([*command, *more]).decode().split(",")]


def test_there_are_twenty_prompts_up_to_2000_tokens() -> None:
    assert len(PROMPTS) == 20
    assert max(len(prompt["tokens"]) for prompt in PROMPTS.values()) == 2000
    assert all(len(prompt["greedy_tokens"]) == 64 for prompt in PROMPTS.values())
    assert len(stored_ids()) == stored_logits()["text 2000"].shape[1] == NUM_IDS


def skip_if_slow(name: str, mode: str) -> None:
    is_slow = len(PROMPTS[name]["tokens"]) > MAX_SHORT[mode]
    if is_slow and os.environ.get("RAPT_SLOW_TESTS") != "1":
        pytest.skip("takes long; RAPT_SLOW_TESTS=1 runs it")


@pytest.mark.parametrize("mode", LIMITS)
@pytest.mark.parametrize("name", PROMPTS)
def test_logits_and_greedy_tokens(
    binary: str, smollm2: Path, tmp_path: Path, name: str, mode: str
) -> None:
    skip_if_slow(name, mode)
    flags, limit = LIMITS[mode]
    error, largest = compare(binary, smollm2, name, tmp_path, flags)
    assert error < limit
    if mode == "i16-f32":
        return
    # Two logits may each be off by this much.
    noise = 2 * largest
    gaps = np.array(PROMPTS[name]["token_gaps"])
    num_sure = int(np.argmax(gaps <= noise)) if (gaps <= noise).any() else len(gaps)
    ours = greedy_tokens(binary, smollm2, name, tmp_path, flags)
    assert ours[:num_sure] == PROMPTS[name]["greedy_tokens"][:num_sure]


@pytest.mark.parametrize("name", PROMPTS)
def test_reference_logits(binary: str, smollm2: Path, tmp_path: Path, name: str) -> None:
    skip_if_slow(name, "reference")
    assert compare(binary, smollm2, name, tmp_path, ["--reference"])[0] < REFERENCE_LIMIT


def test_text_becomes_the_same_tokens(binary: str, smollm2: Path) -> None:
    text = (FOLDER / "text.txt").read_text(encoding="utf-8")
    tokens = run_rapt([binary, "tokenize", str(smollm2), text]).decode().strip("[]\n").split(",")
    count = len(GOLDEN["text_tokens"])
    assert [int(token) for token in tokens[:count]] == GOLDEN["text_tokens"]


def test_perplexity_of_5000_tokens(binary: str, smollm2: Path) -> None:
    command = [binary, "eval-quality", str(smollm2), "--text", str(FOLDER / "text.txt")]
    size = ["--max-tokens", str(len(GOLDEN["text_tokens"])), "--context-length", str(GOLDEN["context"])]
    modes = ["--linear-mode", "i16", "--kv-cache-dtype", "bf16,f32"]
    report = json.loads(run_rapt([*command, *size, *modes, "--json"]))
    assert report["predictions"] == GOLDEN["predictions"]
    for setting in [report["reference"], *report["settings"]]:
        found = setting["perplexity"]
        assert abs(found / GOLDEN["perplexity"] - 1) < PERPLEXITY_LIMIT, setting
