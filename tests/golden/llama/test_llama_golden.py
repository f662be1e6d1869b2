"""Llama-like models against the goldens beside this file: every layout, every type, every mode."""

import io
import json
import subprocess
import sys
from pathlib import Path

import golden_lib
import numpy as np
import pytest
from golden_lib import cpu_levels, relative_error, run_rapt

sys.path.insert(0, str(golden_lib.GOLDEN_DIR.parents[1] / "tools"))
from checkpoints import llama_cases  # noqa: E402

GOLDEN_DIR = Path(__file__).resolve().parent
CASES = [(case.name, layout) for case in llama_cases.CASES for layout in case.layouts]
REFERENCE_LIMIT = 1e-4
# By mode, with keys and values in F32 and in BF16.
LIMITS = {"f32": (1e-4, 1e-2), "i16": (1e-3, 1e-2), "i8": (3e-2, 3e-2)}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("llama")
    for name, layout in CASES:
        spec = llama_cases.find_case(name).spec
        llama_cases.write_checkpoint(spec, layout, folder / name / layout)
    return folder


def load(name: str) -> tuple[dict, np.ndarray]:
    golden = json.loads((GOLDEN_DIR / f"{name}.json").read_text(encoding="utf-8"))
    return golden, np.load(GOLDEN_DIR / f"{name}.npy")


def logits(binary: str, model: Path, prompt: list[int], *flags: str) -> np.ndarray:
    """At all positions, [len(prompt), vocab]."""
    command = [binary, "logits", str(model), "--token-ids", ",".join(map(str, prompt))]
    return np.load(io.BytesIO(run_rapt([*command, "--positions", "all", "--format", "npy", *flags])))


def test_goldens_are_those_of_the_cases() -> None:
    assert {path.stem for path in GOLDEN_DIR.glob("*.json")} == {
        case.name for case in llama_cases.CASES
    }


@pytest.mark.parametrize("name, layout", CASES)
def test_logits(binary: str, models: Path, name: str, layout: str) -> None:
    golden, expected = load(name)
    model, prompt = models / name / layout, golden["prompt"]
    ours = logits(binary, model, prompt, "--reference")
    assert relative_error(ours, expected) < REFERENCE_LIMIT
    for mode, limits in LIMITS.items():
        for kv_type, limit in zip(("f32", "bf16"), limits, strict=True):
            flags = ("--linear-mode", mode, "--kv-cache-dtype", kv_type)
            assert relative_error(logits(binary, model, prompt, *flags), expected) < limit, flags


# GGUF states Llama 3's scaling in float32, config.json as three numbers.
OTHER_LAYOUTS = [
    (case.name, layout)
    for case in llama_cases.CASES
    for layout in case.layouts[1:]
    if case.name != "llama3-rope"
]


@pytest.mark.parametrize("name, layout", OTHER_LAYOUTS)
def test_layouts_have_the_same_bits(binary: str, models: Path, name: str, layout: str) -> None:
    # Q8_0 is multiplied in integers but in the f32 mode.
    modes = ["f32"] if layout == "gguf-q8" else ["f32", "i16", "i8"]
    prompt = load(name)[0]["prompt"]
    for mode in modes:
        flags = ("--linear-mode", mode)
        ours = logits(binary, models / name / layout, prompt, *flags)
        assert ours.tobytes() == logits(binary, models / name / "hf", prompt, *flags).tobytes()


@pytest.mark.parametrize("name", [case.name for case in llama_cases.CASES])
def test_chunks_and_levels_have_the_same_bits(binary: str, models: Path, name: str) -> None:
    golden = load(name)[0]
    model = models / name / golden["layouts"][-1]
    flag_sets = [["--max-num-batched-tokens", "7"], ["--threads", "1"]]
    flag_sets += [["--cpu-level", level] for level in cpu_levels()]
    expected = logits(binary, model, golden["prompt"])
    for flags in flag_sets:
        assert logits(binary, model, golden["prompt"], *flags).tobytes() == expected.tobytes(), flags


@pytest.mark.parametrize("name, layout", CASES)
def test_greedy_tokens(binary: str, models: Path, name: str, layout: str) -> None:
    golden = load(name)[0]
    prompt = ",".join(map(str, golden["prompt"]))
    command = [binary, "run", str(models / name / layout), "--token-ids", prompt]
    count = str(len(golden["greedy_tokens"]))
    flags = ["--temperature", "0", "--max-tokens", count, "--ignore-eos", "--print-token-ids"]
    output = run_rapt([*command, *flags, "--reference"]).decode()
    assert [int(token) for token in output.split(",")] == golden["greedy_tokens"]


def test_a_chat_says_that_no_format_is_known(binary: str, models: Path) -> None:
    command = [binary, "chat", str(models / "tied" / "hf")]
    result = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert result.returncode == 2
    assert b"has no tokenizer" in result.stderr


@pytest.mark.parametrize("name", ["grouped-heads", "llama3-rope", "q4_0"])
def test_eval_quality_gives_transformers_perplexity(
    binary: str, models: Path, tmp_path: Path, name: str
) -> None:
    golden, expected = load(name)
    prompt = golden["prompt"]
    tokens = tmp_path / "tokens.txt"
    tokens.write_text(",".join(map(str, prompt)), encoding="utf-8")
    command = [binary, "eval-quality", str(models / name / golden["layouts"][0])]
    report = json.loads(run_rapt([*command, "--token-ids-file", str(tokens), "--json"]))
    rows = expected[:-1].astype(np.float64)
    largest = rows.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(rows - largest).sum(axis=1)) + largest[:, 0]
    theirs = np.exp(np.mean(log_sum - rows[np.arange(len(rows)), prompt[1:]]))
    assert report["predictions"] == len(prompt) - 1
    assert report["reference"]["perplexity"] == pytest.approx(theirs, rel=1e-5)
    for setting in report["settings"]:
        if setting["linear_mode"] != "i8" and setting["kv_cache_dtype"] == "f32":
            assert setting["perplexity"] == pytest.approx(theirs, rel=1e-3), setting
