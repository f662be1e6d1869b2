"""Random values for every tensor of a gpt-oss model, under Hugging Face's tensor names."""

import math
from collections.abc import Iterator

import numpy as np

from . import hash_random, routing
from .number_formats import FP4_RMS, from_bf16, round_to_q8_grid, to_bf16
from .spec import ModelSpec

# One MXFP4 block in so many has scale byte 0 (2^-127), and one in so many a scale 2^-20 lower.
_ZERO_SCALE_ONE_IN = 64
_SMALL_SCALE_ONE_IN = 48


def _normal(spec: ModelSpec, name: str, shape: tuple[int, ...], std: float) -> np.ndarray:
    return hash_random.normal(spec.seed, name, math.prod(shape)).reshape(shape) * std


def _sinks(spec: ModelSpec, name: str) -> np.ndarray:
    """The first two heads have the extremes +-sink; odd heads otherwise stay within +-2, where
    a sink competes with the keys instead of winning or vanishing."""
    sinks = 2 * hash_random.uniform(spec.seed, name, spec.heads) - 1
    limits = np.where(np.arange(spec.heads) % 2 == 0, spec.spread.sink, 2.0)
    sinks *= limits
    if spec.heads >= 4:
        sinks[0], sinks[2] = spec.spread.sink, -spec.spread.sink
    return sinks


def _mxfp4(
    spec: ModelSpec, name: str, rows: int, columns: int, gain: float
) -> tuple[np.ndarray, np.ndarray]:
    """Blocks [experts, rows, columns / 32, 16] and scales [experts, rows, columns / 32]."""
    blocks_shape = (spec.experts, rows, columns // 32, 16)
    num_blocks = math.prod(blocks_shape[:3])
    words = hash_random.integers(spec.seed, name + "_blocks", num_blocks * 2)
    blocks = words.astype("<u8").view(np.uint8).reshape(blocks_shape)

    # frexp rather than a logarithm: exact on every machine.
    exponent = math.frexp(gain / math.sqrt(columns) / FP4_RMS)[1]
    draw = hash_random.integers(spec.seed, name + "_scales", num_blocks)
    steps = np.array([-2, -1, -1, 0])[(draw & np.uint64(3)).astype(np.int64)]
    scales = (127 + exponent + steps).astype(np.int64)
    scales[(draw >> np.uint64(8)) % np.uint64(_SMALL_SCALE_ONE_IN) == 0] -= 20
    scales[(draw >> np.uint64(24)) % np.uint64(_ZERO_SCALE_ONE_IN) == 0] = 0
    return blocks, scales.astype(np.uint8).reshape(blocks_shape[:3])


def _attention(spec: ModelSpec, prefix: str) -> Iterator[tuple[str, np.ndarray]]:
    name = prefix + "self_attn."
    in_std = 1 / math.sqrt(spec.hidden)
    widths = {"q_proj": spec.query_width, "k_proj": spec.kv_width, "v_proj": spec.kv_width}
    for part, width in widths.items():
        gain = 1.0 if part == "v_proj" else spec.spread.query_key
        weight = _normal(spec, f"{name}{part}.weight", (width, spec.hidden), gain * in_std)
        yield f"{name}{part}.weight", to_bf16(weight)
        yield f"{name}{part}.bias", to_bf16(_normal(spec, f"{name}{part}.bias", (width,), 0.3))
    out_std = spec.spread.attention_out / math.sqrt(spec.query_width)
    out = _normal(spec, name + "o_proj.weight", (spec.hidden, spec.query_width), out_std)
    out_bias = _normal(spec, name + "o_proj.bias", (spec.hidden,), 0.1)
    out[: spec.kept_dimensions] = 0
    out_bias[: spec.kept_dimensions] = 0
    yield name + "o_proj.weight", to_bf16(out)
    yield name + "o_proj.bias", to_bf16(out_bias)
    yield name + "sinks", to_bf16(_sinks(spec, name + "sinks"))


def _experts(spec: ModelSpec, prefix: str) -> Iterator[tuple[str, np.ndarray]]:
    name = prefix + "mlp.experts."
    width = 2 * spec.intermediate
    blocks, scales = _mxfp4(spec, name + "gate_up_proj", width, spec.hidden, spec.spread.gate_up)
    yield name + "gate_up_proj_blocks", blocks
    yield name + "gate_up_proj_scales", scales
    bias = _normal(spec, name + "gate_up_proj_bias", (spec.experts, width), 1.0)
    yield name + "gate_up_proj_bias", to_bf16(bias)

    blocks, scales = _mxfp4(
        spec, name + "down_proj", spec.hidden, spec.intermediate, spec.spread.down
    )
    bias = _normal(spec, name + "down_proj_bias", (spec.experts, spec.hidden), 0.2)
    scales[:, : spec.kept_dimensions] = 0
    bias[:, : spec.kept_dimensions] = 0
    yield name + "down_proj_blocks", blocks
    yield name + "down_proj_scales", scales
    yield name + "down_proj_bias", to_bf16(bias)


def _norm(spec: ModelSpec, name: str) -> tuple[str, np.ndarray]:
    weight = 1 + _normal(spec, name, (spec.hidden,), 0.2)
    # Routing codes were chosen for what the router sees, so they pass the norm unchanged.
    weight[: spec.kept_dimensions] = 1
    return name, to_bf16(weight)


def tensors(spec: ModelSpec) -> Iterator[tuple[str, np.ndarray]]:
    """Yields (name, values): uint16 arrays are BF16 bits, uint8 arrays MXFP4 blocks and scales."""
    for name, values in _tensors(spec):
        is_matrix = values.ndim == 2 and values.dtype == np.uint16 and ".mlp." not in name
        if spec.q8_grid and is_matrix:
            values = to_bf16(round_to_q8_grid(from_bf16(values)))
        yield name, values


def _tensors(spec: ModelSpec) -> Iterator[tuple[str, np.ndarray]]:
    spec.check()
    embedding_name, head_name = "model.embed_tokens.weight", "lm_head.weight"
    embedding = _normal(spec, embedding_name, (spec.vocab, spec.hidden), spec.spread.embedding)
    if spec.spread.routing_code_bits > 0:
        routing.write_codes(spec, embedding)
    yield embedding_name, to_bf16(embedding)
    for layer in range(spec.layers):
        prefix = f"model.layers.{layer}."
        yield _norm(spec, prefix + "input_layernorm.weight")
        yield from _attention(spec, prefix)
        yield _norm(spec, prefix + "post_attention_layernorm.weight")
        router_name = prefix + "mlp.router."
        router_std = spec.spread.router / math.sqrt(spec.hidden)
        router = _normal(spec, router_name + "weight", (spec.experts, spec.hidden), router_std)
        if spec.spread.routing_code_bits > 0:
            routing.write_router(spec, layer, router)
        yield router_name + "weight", to_bf16(router)
        bias_std = 0.1 * spec.spread.router
        router_bias = _normal(spec, router_name + "bias", (spec.experts,), bias_std)
        yield router_name + "bias", to_bf16(router_bias)
        yield from _experts(spec, prefix)
    yield _norm(spec, "model.norm.weight")
    head_std = spec.spread.head / math.sqrt(spec.hidden)
    yield head_name, to_bf16(_normal(spec, head_name, (spec.vocab, spec.hidden), head_std))
