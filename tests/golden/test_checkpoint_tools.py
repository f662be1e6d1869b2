"""The checkpoint generator and the float64 forward pass against known numbers."""

import sys
from dataclasses import replace
from pathlib import Path

import golden_lib
import numpy as np
import pytest

sys.path.insert(0, str(golden_lib.GOLDEN_DIR.parents[1] / "tools"))
import reference_forward  # noqa: E402
from checkpoints import (  # noqa: E402
    demo,
    full_size,
    gguf_io,
    gguf_layouts,
    hash_random,
    number_formats,
)
from checkpoints.cases import find_case  # noqa: E402
from checkpoints.reading import read_checkpoint  # noqa: E402
from checkpoints.safetensors_io import read_file  # noqa: E402
from checkpoints.spec import Yarn  # noqa: E402
from checkpoints.writing import Storage, write_checkpoint  # noqa: E402


def test_hash_values_are_frozen() -> None:
    # At the index that cancels the stream's key, these are splitmix64's first values for seed 0.
    key = hash_random.stream_key(7, "x")
    first = -key * pow(0x9E3779B97F4A7C15, -1, 2**64) % 2**64
    values = hash_random.integers(7, "x", 2, first).tolist()
    assert values == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_normal_values_have_unit_variance() -> None:
    values = hash_random.normal(3, "normal", 100_000)
    assert abs(values.mean()) < 0.02
    assert abs(values.std() - 1) < 0.01


def test_bf16_rounds_ties_to_even() -> None:
    below, above = 1 + 2.0**-8, 1 + 3 * 2.0**-8
    bits = number_formats.to_bf16(np.array([1.0, below, above, -2.0, 2.0**-133]))
    expected = [1.0, 1.0, 1 + 2.0**-6, -2.0, 2.0**-133]
    assert number_formats.from_bf16(bits).tolist() == expected


def test_mxfp4_block_decodes() -> None:
    blocks = np.arange(0x10, 0x20, dtype=np.uint8).reshape(1, 16)
    values = number_formats.decode_mxfp4(blocks, np.array([125], dtype=np.uint8))
    positive = [0, 0.125, 0.25, 0.375, 0.5, 0.75, 1, 1.5]
    assert values[0::2].tolist() == positive + [-value for value in positive]
    assert (values[1::2] == 0.125).all()


def test_layouts_hold_the_same_values(tmp_path: Path) -> None:
    spec = find_case("window-3").spec
    read = {}
    files = {"hf": 3, "original": 2, "bf16": 1, "gguf": 3, "gguf-ollama": 1}
    files["gguf-first"] = 1
    for layout, num_files in files.items():
        write_checkpoint(spec, layout, Storage("v5", num_files), tmp_path / layout)
        read[layout] = read_checkpoint(tmp_path / layout)
    for layout in list(files)[1:]:
        for ours, theirs in zip(read[layout][1].layers, read["hf"][1].layers, strict=True):
            assert ours.keys() == theirs.keys()
            assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
        assert np.array_equal(read[layout][1].head, read["hf"][1].head)
        assert read[layout][0] == read["hf"][0]


def test_ggml_mxfp4_block_decodes() -> None:
    blocks = np.arange(0x10, 0x20, dtype=np.uint8).reshape(1, 16)
    scales = np.array([125], dtype=np.uint8)
    packed = gguf_layouts.ggml_mxfp4(blocks, scales)
    # Elements 0 and 16, then 1 and 17: 0 and -0, then 0.125 and 0.125.
    assert packed.shape == (1, 17) and packed[0, :3].tolist() == [125, 0x80, 0x11]
    expected = number_formats.decode_mxfp4(blocks, scales)
    assert np.array_equal(number_formats.decode_ggml_mxfp4(packed), expected)


def test_q8_grid_values_fit_both_formats() -> None:
    values = hash_random.normal(4, "q8", 4096).reshape(32, 128)
    values[0, :32] = 0
    values[1, :32] = 127 * 2.0**-9
    on_grid = number_formats.round_to_q8_grid(values)
    assert np.abs(on_grid - values).max() < 0.02
    bits = number_formats.to_bf16(on_grid)
    assert np.array_equal(number_formats.from_bf16(bits), on_grid)
    assert np.array_equal(number_formats.decode_q8(number_formats.quantise_q8(on_grid)), on_grid)


def test_gguf_file_reads_back(tmp_path: Path) -> None:
    metadata: dict = {"a": 1, "b": 0.5, "c": "text", "d": [1, -2], "e": ["x", ""], "f": True}
    data = np.arange(6, dtype=np.float32)
    tensors = [gguf_io.GgufTensor(name, "F32", (2, 3), data) for name in ("first", "second")]
    gguf_io.write_file(tmp_path / "m.gguf", metadata, tensors)
    read_metadata, read_tensors = gguf_io.read_file(tmp_path / "m.gguf")
    assert read_metadata == metadata
    assert list(read_tensors) == ["first", "second"]
    assert read_tensors["second"].shape == (2, 3)
    assert np.array_equal(read_tensors["second"].data.view("<f4"), data)


def test_gguf_has_no_words_for_unusual_models(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no key"):
        write_checkpoint(find_case("layer-types").spec, "gguf", Storage(), tmp_path)


def test_a_leftover_weight_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model-00007-of-00009.safetensors").touch()
    with pytest.raises(ValueError, match="in the way"):
        write_checkpoint(find_case("window-3").spec, "hf", Storage(), tmp_path)


def test_gpt_oss_20b_has_its_published_size() -> None:
    entries = full_size._entries(full_size.GPT_OSS_20B)
    assert len(entries) == 459
    assert sum(entry.num_bytes for entry in entries) == 13_761_264_768


def test_full_size_writer_makes_a_working_model(tmp_path: Path) -> None:
    spec = replace(
        full_size.GPT_OSS_20B, hidden=96, intermediate=64, layers=2, heads=4, kv_heads=2,
        experts=5, vocab=300,
    )  # fmt: skip
    full_size.write_full_size(spec, 3, tmp_path, config_only=False)
    names = [set(read_file(path)) for path in sorted(tmp_path.glob("*.safetensors"))]
    assert len(names) == 3 and all(names)
    logits = reference_forward.Model(tmp_path).forward(list(range(0, 300, 7)))
    assert np.isfinite(logits).all()
    assert 1 < logits.std() < 6


def test_demo_classes_share_no_token() -> None:
    ids = [token for tokens, _ in demo._CLASSES.values() for token in tokens]
    assert len(ids) == len(set(ids))
    followers = {name for _, after in demo._CLASSES.values() for name in after}
    assert followers < demo._CLASSES.keys()


def test_yarn_angles() -> None:
    frequency, factor = reference_forward.yarn_frequencies(Yarn(), 64)
    assert factor == pytest.approx(1.3465735902799727, rel=1e-15)
    expected = {1: 6.8904430589e-1, 8: 5.0813274815e-2, 17: 1.2931870125e-4, 31: 3.0235114281e-7}
    for pair, value in expected.items():
        assert frequency[pair] == pytest.approx(value, rel=1e-10)
    assert factor * np.cos(4096 * frequency[12]) == pytest.approx(-1.217061551, abs=1e-9)


def test_clamped_swiglu() -> None:
    pairs = {(1, 1): 1.6915915318656425, (8, 9): 55.99962502642654, (-8, -9): 5.859857e-05}
    for (gate, up), value in pairs.items():
        z = np.array([gate, up], dtype=np.float64)
        assert reference_forward.clamped_swiglu(z, 7.0, 1.702)[0] == pytest.approx(value, rel=1e-6)


def test_sink_takes_its_share() -> None:
    # Three keys whose scores for the last query are 1, 2, 3; values are unit vectors.
    q = np.array([[[2.0, 0, 0, 0]]])
    k = np.array([[[1.0, 0, 0, 0]], [[2.0, 0, 0, 0]], [[3.0, 0, 0, 0]]])
    v = np.eye(4)[:3, None]
    out = reference_forward.attend(q, k, v, np.array([2.5]), window=None)[0, 0]
    expected = [0.0641476854, 0.1743714876, 0.4739908463, 0]
    np.testing.assert_allclose(out, expected, atol=1e-10)


def test_window_counts_the_query_itself() -> None:
    v = np.eye(4)[:, None]
    out = reference_forward.attend(v * 0, v, v, np.array([-np.inf]), window=2)[:, 0]
    np.testing.assert_allclose(out[3], [0, 0, 0.5, 0.5])
    np.testing.assert_allclose(out[0], [1, 0, 0, 0])


def test_a_wrong_number_is_seen() -> None:
    golden = golden_lib.load_golden("window-3")
    wrong = golden.logits.copy()
    wrong[0, 0] += 0.1
    assert golden_lib.relative_error(wrong, golden.logits) > 1e-4
    wrong[0, 0] = np.nan
    assert golden_lib.relative_error(wrong, golden.logits) == float("inf")
