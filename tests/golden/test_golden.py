"""The engine against the stored goldens: logits of prompts, and greedy tokens.

RAPT_BINARY names the binary under test; checkpoints are made once in build/golden-checkpoints.
"""

import io
import sys
from dataclasses import replace
from pathlib import Path

import golden_lib
import numpy as np
import pytest
from golden_lib import Golden, cpu_levels, load_golden, relative_error, run_rapt

sys.path.insert(0, str(golden_lib.GOLDEN_DIR.parents[1] / "tools"))
import reference_forward  # noqa: E402
from checkpoints import gguf_io, hash_random  # noqa: E402
from checkpoints.cases import find_case  # noqa: E402
from checkpoints.writing import Storage, write_checkpoint  # noqa: E402

REFERENCE_LIMIT = 1e-4
# By linear mode and type of the KV cache: rounded activations, keys and values.
MODE_LIMITS = {
    ("f32", "f32"): 1e-4,
    ("i16", "f32"): 1e-3,
    ("i16", "bf16"): 1e-2,
    ("i8", "f32"): 3e-2,
    ("i8", "bf16"): 3e-2,
}

# One layout is enough where only kernels differ, and short prompts are for the slow ones.
FIRST_LAYOUTS = [
    (golden.name, golden.layouts[0])
    for golden in golden_lib.all_goldens()
    if len(golden.prompt) <= 512
]
WIDE = [case for case in golden_lib.cases() if load_golden(case[0]).is_wide]


@pytest.fixture(scope="session")
def checkpoints() -> Path:
    folder = golden_lib.GOLDEN_DIR.parents[1] / "build" / "golden-checkpoints"
    golden_lib.write_checkpoints(folder)
    return folder


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


@pytest.mark.parametrize("mode, kv_type", MODE_LIMITS)
@pytest.mark.parametrize("name, layout", WIDE)
def test_logits_of_modes(
    binary: str, checkpoints: Path, tmp_path: Path, name: str, layout: str, mode: str, kv_type: str
) -> None:
    golden = load_golden(name)
    model, prompt = golden.checkpoint(checkpoints, layout), write_prompt(golden, tmp_path)
    flags = ["--linear-mode", mode, "--kv-cache-dtype", kv_type]
    ours = engine_logits(binary, model, prompt, golden, *flags)
    assert relative_error(ours, golden.logits) < MODE_LIMITS[mode, kv_type]


@pytest.mark.parametrize("name, layout", WIDE)
def test_default_is_i16_and_bf16(
    binary: str, checkpoints: Path, tmp_path: Path, name: str, layout: str
) -> None:
    golden = load_golden(name)
    model, prompt = golden.checkpoint(checkpoints, layout), write_prompt(golden, tmp_path)
    flags = ["--linear-mode", "i16", "--kv-cache-dtype", "bf16"]
    told = engine_logits(binary, model, prompt, golden, *flags)
    assert np.array_equal(engine_logits(binary, model, prompt, golden), told)


@pytest.mark.parametrize("mode", ["i16", "i8", "f32"])
@pytest.mark.parametrize("name, layout", FIRST_LAYOUTS)
def test_levels_have_the_same_bits(
    binary: str, checkpoints: Path, tmp_path: Path, name: str, layout: str, mode: str
) -> None:
    """All levels, the scalar one first; --reference has another class of attention."""
    golden = load_golden(name)
    model, prompt = golden.checkpoint(checkpoints, layout), write_prompt(golden, tmp_path)
    flags = ["--linear-mode", mode, "--kv-cache-dtype", "bf16"]
    scalar, *others = (
        engine_logits(binary, model, prompt, golden, *flags, "--cpu-level", level)
        for level in cpu_levels()
    )
    for level, ours in zip(cpu_levels()[1:], others):
        assert ours.tobytes() == scalar.tobytes(), level


# A mode promises the same bits from every layout that stores the same types. "gguf-q8" stores in
# Q8_0 what the others store in BF16; only the f32 mode multiplies both with the same activations.
MODES = {
    "default": [],
    "i8": ["--linear-mode", "i8"],
    "f32": ["--linear-mode", "f32"],
    "reference": ["--reference"],
}
GGUF = [
    (*case, mode)
    for case in golden_lib.cases()
    for mode in MODES
    if case[1] in ("gguf", "gguf-ollama", "gguf-first")
    or (case[1] == "gguf-q8" and mode in ("f32", "reference"))
]


@pytest.mark.parametrize("name, layout, mode", GGUF)
def test_gguf_gives_the_bits_of_safetensors(
    binary: str, checkpoints: Path, tmp_path: Path, name: str, layout: str, mode: str
) -> None:
    golden = load_golden(name)
    prompt = write_prompt(golden, tmp_path)
    first, other = (golden.checkpoint(checkpoints, each) for each in (golden.layouts[0], layout))
    expected = engine_logits(binary, first, prompt, golden, *MODES[mode])
    assert np.array_equal(engine_logits(binary, other, prompt, golden, *MODES[mode]), expected)


def test_q8_with_scales_of_any_size(binary: str, tmp_path: Path) -> None:
    """Scales that are no powers of two, as every real file has them, against the float64 pass."""
    spec, model = find_case("wide-q8").spec, tmp_path / "model.gguf"
    write_checkpoint(spec, "gguf-q8", Storage(), tmp_path)
    metadata, tensors = gguf_io.read_file(model)
    entries = []
    for name, tensor in tensors.items():
        if tensor.type == "Q8_0":
            blocks = tensor.data.reshape(-1, 34)
            scales = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float64)
            stretch = 0.7 + 0.6 * hash_random.uniform(5, name, len(blocks))[:, None]
            stored = (scales * stretch).astype("<f2").view(np.uint8)
            blocks = np.concatenate([stored, blocks[:, 2:]], axis=1)
            tensor = replace(tensor, data=blocks)
        entries.append(tensor)
    gguf_io.write_file(model, metadata, entries)
    golden = load_golden("wide-q8")
    prompt = write_prompt(golden, tmp_path)
    theirs = reference_forward.Model(tmp_path).forward(golden.prompt)
    ours = engine_logits(binary, model, prompt, golden, "--reference")
    assert relative_error(ours, theirs) < REFERENCE_LIMIT
    for (mode, kv_type), limit in MODE_LIMITS.items():
        flags = ["--linear-mode", mode, "--kv-cache-dtype", kv_type]
        assert relative_error(engine_logits(binary, model, prompt, golden, *flags), theirs) < limit


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
