"""Checkpoints too large for memory, written in chunks as fast as the disk takes them.

Hashing 14 GB would take minutes, so a chunk of a large tensor is two slices of two hashed pools,
joined by xor: all bits of MXFP4 blocks, only the signs of BF16 values. Which slices follows from
the tensor's name and the chunk's number. The values are as sane as the small models': activations
stay near one through all layers, and the routers use every expert.
"""

import math
import shutil
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from . import configs, hash_random
from .number_formats import to_bf16
from .safetensors_io import TensorEntry, array_entry
from .spec import ModelSpec
from .writing import file_names, refuse_foreign_weights, write_json, write_weights

_POOL_BYTES = 1 << 25
_CHUNK_BYTES = 1 << 23
_SIGNS = np.uint64(0x8000_8000_8000_8000)
_ALL_BITS = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_NO_BITS = np.uint64(0)
_BIAS_STD = 0.1

GPT_OSS_20B = ModelSpec(
    seed=20,
    hidden=2880,
    intermediate=2880,
    layers=24,
    heads=64,
    kv_heads=8,
    head_dim=64,
    experts=32,
    window=128,
    vocab=201088,
)
NUM_FILES = 3


@cache
def _random_pool(seed: int, name: str) -> np.ndarray:
    return hash_random.integers(seed, name, _POOL_BYTES // 8)


@cache
def _bf16_pool(seed: int, std: float) -> np.ndarray:
    values = hash_random.normal(seed, "bf16 pool", _POOL_BYTES // 2) * std
    return to_bf16(values).astype("<u2").view(np.uint64)


@cache
def _scale_pool(seed: int, lowest: int) -> np.ndarray:
    """Bytes lowest, lowest + 1 and lowest + 2."""
    draws = _random_pool(seed, "scale pool").view(np.uint8)
    return (lowest + draws % 3).astype(np.uint8).view(np.uint64)


def _chunks(
    seed: int, name: str, num_bytes: int, pool: np.ndarray, mask: np.uint64
) -> Iterator[np.ndarray]:
    other = _random_pool(seed, "xor pool")
    num_chunks = -(-num_bytes // _CHUNK_BYTES)
    room = (_POOL_BYTES - _CHUNK_BYTES) // 8
    starts = hash_random.below(seed, name + " slices", 2 * num_chunks, room).tolist()
    for chunk in range(num_chunks):
        size = min(_CHUNK_BYTES, num_bytes - chunk * _CHUNK_BYTES)
        words = -(-size // 8)
        first, second = starts[2 * chunk : 2 * chunk + 2]
        joined = other[second : second + words] & mask
        joined ^= pool[first : first + words]
        yield joined.view(np.uint8)[:size]


def _bf16(spec: ModelSpec, name: str, shape: tuple[int, ...], std: float) -> TensorEntry:
    def chunks() -> Iterator[np.ndarray]:
        pool = _bf16_pool(spec.seed, std)
        return _chunks(spec.seed, name, 2 * math.prod(shape), pool, _SIGNS)

    return TensorEntry(name, "BF16", shape, chunks)


def _norm(spec: ModelSpec, name: str) -> TensorEntry:
    return array_entry(name, to_bf16(1 + 0.1 * hash_random.normal(spec.seed, name, spec.hidden)))


def _mxfp4(
    spec: ModelSpec, name: str, rows: int, columns: int, lowest_scale: int
) -> list[TensorEntry]:
    shape = (spec.experts, rows, columns // 32)
    num_blocks = math.prod(shape)

    def blocks() -> Iterator[np.ndarray]:
        pool = _random_pool(spec.seed, "block pool")
        return _chunks(spec.seed, name + "_blocks", 16 * num_blocks, pool, _ALL_BITS)

    def scales() -> Iterator[np.ndarray]:
        pool = _scale_pool(spec.seed, lowest_scale)
        return _chunks(spec.seed, name + "_scales", num_blocks, pool, _NO_BITS)

    return [
        TensorEntry(name + "_blocks", "U8", (*shape, 16), blocks),
        TensorEntry(name + "_scales", "U8", shape, scales),
    ]


def _layer_entries(spec: ModelSpec, prefix: str) -> list[TensorEntry]:
    hidden, experts = spec.hidden, spec.experts
    in_std, out_std = 1 / math.sqrt(hidden), 1 / math.sqrt(spec.query_width)
    attention, mlp = prefix + "self_attn.", prefix + "mlp."
    entries = [_norm(spec, prefix + "input_layernorm.weight")]
    for part, width in (("q", spec.query_width), ("k", spec.kv_width), ("v", spec.kv_width)):
        entries.append(_bf16(spec, f"{attention}{part}_proj.weight", (width, hidden), in_std))
        entries.append(_bf16(spec, f"{attention}{part}_proj.bias", (width,), _BIAS_STD))
    entries += [
        _bf16(spec, attention + "o_proj.weight", (hidden, spec.query_width), out_std),
        _bf16(spec, attention + "o_proj.bias", (hidden,), _BIAS_STD),
        _bf16(spec, attention + "sinks", (spec.heads,), 1.0),
        _norm(spec, prefix + "post_attention_layernorm.weight"),
        _bf16(spec, mlp + "router.weight", (experts, hidden), 2 * in_std),
        _bf16(spec, mlp + "router.bias", (experts,), _BIAS_STD),
        *_mxfp4(spec, mlp + "experts.gate_up_proj", 2 * spec.intermediate, hidden, 119),
        _bf16(spec, mlp + "experts.gate_up_proj_bias", (experts, 2 * spec.intermediate), _BIAS_STD),
        *_mxfp4(spec, mlp + "experts.down_proj", hidden, spec.intermediate, 118),
        _bf16(spec, mlp + "experts.down_proj_bias", (experts, hidden), _BIAS_STD),
    ]
    return entries


def _entries(spec: ModelSpec) -> list[TensorEntry]:
    vocab_shape = (spec.vocab, spec.hidden)
    entries = [_bf16(spec, "model.embed_tokens.weight", vocab_shape, 1.0)]
    for layer in range(spec.layers):
        entries += _layer_entries(spec, f"model.layers.{layer}.")
    entries.append(_norm(spec, "model.norm.weight"))
    entries.append(_bf16(spec, "lm_head.weight", vocab_shape, 3 / math.sqrt(spec.hidden)))
    return entries


def _in_equal_shares(entries: list[TensorEntry], num_files: int) -> list[list[TensorEntry]]:
    share = sum(entry.num_bytes for entry in entries) / num_files
    shards: list[list[TensorEntry]] = [[] for _ in range(num_files)]
    before = 0
    for entry in entries:
        shards[min(int(before / share), num_files - 1)].append(entry)
        before += entry.num_bytes
    return shards


class _Progress:
    """Says on stderr how far the writing is, every half gigabyte."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.said = total, 0, 0
        self.start = time.monotonic()

    def __call__(self, count: int) -> None:
        self.done += count
        if self.done - self.said >= 1 << 29 or self.done == self.total:
            self.said = self.done
            speed = self.done / 1e6 / max(time.monotonic() - self.start, 1e-9)
            print(
                f"{self.done / 1e9:6.2f} of {self.total / 1e9:.2f} GB, {speed:.0f} MB/s",
                file=sys.stderr,
                flush=True,
            )


def write_full_size(spec: ModelSpec, num_files: int, out: Path, config_only: bool) -> None:
    """Writes an hf checkpoint in less than 1 GB of memory."""
    out.mkdir(parents=True, exist_ok=True)
    names = file_names("hf", num_files)
    refuse_foreign_weights(out, names)
    write_json(out / "config.json", configs.hugging_face_config(spec, "hub", quantised=True))
    write_json(out / "generation_config.json", configs.generation_config(spec))
    if config_only:
        return
    shards = _in_equal_shares(_entries(spec), num_files)
    total = sum(entry.num_bytes for shard in shards for entry in shard)
    present = sum((out / name).stat().st_size for name in names if (out / name).exists())
    free = shutil.disk_usage(out).free + present
    if free < total + (1 << 28):
        needed = f"the checkpoint needs {total / 1e9:.1f} GB"
        raise ValueError(f"{out} has {free / 1e9:.1f} GB free; {needed}")
    write_weights(out, names, shards, with_index=True, on_bytes=_Progress(total))
