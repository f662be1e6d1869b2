"""Random Llama-like checkpoints as GGUF files."""

import math
from pathlib import Path

import numpy as np

from . import gguf_io
from .block_formats import random_blocks
from .gguf_io import GgufTensor
from .llama import BLOCK_LAYOUT, LlamaSpec, LlamaTensor, tensors, to_f16
from .number_formats import from_bf16, quantise_q8

_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
# Of the layouts whose matrices hold the values of Hugging Face's: type and conversion from BF16.
_FLOAT_TYPES = {
    "gguf-bf16": ("BF16", lambda bits: bits),
    "gguf-f16": ("F16", to_f16),
    "gguf-f32": ("F32", from_bf16),
    "gguf-q8": ("Q8_0", lambda bits: quantise_q8(from_bf16(bits))),
}


def permute(values: np.ndarray, num_heads: int) -> np.ndarray:
    """Rows of each head from (i, i + half) to neighbours."""
    shape = values.shape
    halves = values.reshape(num_heads, 2, shape[0] // num_heads // 2, *shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(shape)


def _rope_divisors(spec: LlamaSpec) -> np.ndarray:
    """What GGUF holds for Llama 3's scaling: by how much each pair is slowed."""
    scaling, size = spec.rope_scaling, spec.head_size
    frequency = spec.theta ** (-np.arange(0, size, 2, dtype=np.float64) / size)
    turns = scaling["original_max_position_embeddings"] * frequency / (2 * math.pi)
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return (1 / ((1 - kept) / scaling["factor"] + kept)).astype(np.float32)


def _split_name(name: str) -> tuple[str, str, str]:
    """("blk.0.", "attn_q", "weight") of "model.layers.0.self_attn.q_proj.weight"."""
    stem, _, kind = name.rpartition(".")
    if not stem.startswith("model.layers."):
        return "", _NAMES[stem], kind
    layer, stem = stem.removeprefix("model.layers.").split(".", 1)
    return f"blk.{layer}.", _NAMES[stem], kind


def _entry(spec: LlamaSpec, layout: str, tensor: LlamaTensor) -> GgufTensor:
    prefix, stem, kind = _split_name(tensor.name)
    name = f"{prefix}{stem}.{kind}"
    if layout == BLOCK_LAYOUT and len(tensor.shape) == 2:
        type_name = spec.block_types.get(stem, spec.block_types[""])
        blocks = random_blocks(type_name, spec.seed, tensor.name, tensor.shape, tensor.std)
        return GgufTensor(name, type_name, tensor.shape, blocks)
    bits = tensor.bits(spec.seed)
    if stem in ("attn_q", "attn_k"):
        bits = permute(bits, spec.heads if stem == "attn_q" else spec.kv_heads)
    is_vector = len(tensor.shape) == 1
    type_name, convert = _FLOAT_TYPES["gguf-f32" if is_vector else layout]
    return GgufTensor(name, type_name, tensor.shape, convert(bits))


def _metadata(spec: LlamaSpec) -> dict[str, object]:
    metadata: dict[str, object] = {
        "general.architecture": "llama",
        "llama.block_count": spec.layers,
        "llama.context_length": 2048,
        "llama.embedding_length": spec.hidden,
        "llama.feed_forward_length": spec.intermediate,
        "llama.attention.head_count": spec.heads,
        "llama.attention.head_count_kv": spec.kv_heads,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": spec.head_size,
        "llama.rope.freq_base": spec.theta,
        "llama.vocab_size": spec.vocab,
        "tokenizer.ggml.eos_token_id": spec.vocab - 1,
    }
    if spec.head_dim:
        metadata["llama.attention.key_length"] = spec.head_dim
        metadata["llama.attention.value_length"] = spec.head_dim
    if spec.rope_scaling.get("rope_type") == "linear":
        metadata["llama.rope.scaling.type"] = "linear"
        metadata["llama.rope.scaling.factor"] = spec.rope_scaling["factor"]
    return metadata


def write_gguf(spec: LlamaSpec, layout: str, path: Path) -> None:
    entries = [_entry(spec, layout, tensor) for tensor in tensors(spec)]
    if spec.rope_scaling.get("rope_type") == "llama3":
        divisors = _rope_divisors(spec)
        entries.append(GgufTensor("rope_freqs.weight", "F32", divisors.shape, divisors))
    gguf_io.write_file(path, _metadata(spec), entries)
