"""Random Llama-like checkpoints: Hugging Face's layout in BF16, and GGUF in several types.

All layouts of a case hold the same values. GGUF's rows of q and k are permuted, as converters do it.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import gguf_io, hash_random, safetensors_io
from .gguf_io import GgufTensor
from .number_formats import from_bf16, quantise_q8, round_to_q8_grid, to_bf16

LAYOUTS = ("hf", "gguf-bf16", "gguf-f32", "gguf-q8")


@dataclass(frozen=True)
class LlamaSpec:
    seed: int
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    vocab: int
    head_dim: int = 0
    tied: bool = False
    attention_bias: bool = False
    mlp_bias: bool = False
    theta: float = 10000.0
    # As config.json's rope_scaling; empty for none.
    rope_scaling: dict = field(default_factory=dict)
    architecture: str = "LlamaForCausalLM"

    @property
    def head_size(self) -> int:
        return self.head_dim or self.hidden // self.heads


@dataclass(frozen=True)
class LlamaCase:
    name: str
    about: str
    spec: LlamaSpec
    layouts: tuple[str, ...]
    prompt_length: int


_LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}

CASES = (
    LlamaCase(
        "grouped-heads",
        "4 heads to a KV head, an output head of its own",
        LlamaSpec(201, 128, 96, 3, 8, 2, 150),
        LAYOUTS,
        32,
    ),
    LlamaCase(
        "tied",
        "the embedding is the output head; one head to a KV head; theta 100000",
        LlamaSpec(202, 96, 160, 2, 3, 3, 170, tied=True, theta=100000.0),
        LAYOUTS,
        40,
    ),
    LlamaCase(
        "biases",
        "biases everywhere, permuted with their rows; heads wider than hidden / heads",
        LlamaSpec(203, 64, 64, 2, 4, 1, 130, head_dim=32, attention_bias=True, mlp_bias=True),
        ("hf", "gguf-bf16", "gguf-q8"),
        24,
    ),
    LlamaCase(
        "llama3-rope",
        "Llama 3.1's scaling, the original context of 64 passed; in GGUF a tensor of divisors",
        LlamaSpec(204, 128, 96, 2, 2, 1, 140, theta=500000.0, rope_scaling=_LLAMA3),
        ("hf", "gguf-bf16"),
        200,
    ),
    LlamaCase(
        "linear-rope",
        "linear scaling; a Mistral without a window",
        LlamaSpec(
            205, 64, 128, 2, 4, 2, 120,
            rope_scaling={"rope_type": "linear", "factor": 4.0},
            architecture="MistralForCausalLM",
        ),
        ("hf", "gguf-bf16"),
        48,
    ),
)  # fmt: skip


def find_case(name: str) -> LlamaCase:
    return next(case for case in CASES if case.name == name)


def tensors(spec: LlamaSpec) -> Iterator[tuple[str, np.ndarray]]:
    """(name, BF16 bits) under Hugging Face's names; matrices hold what Q8_0 holds too."""
    q_width, kv_width = spec.heads * spec.head_size, spec.kv_heads * spec.head_size

    def matrix(name: str, rows: int, columns: int, gain: float = 1.0) -> tuple[str, np.ndarray]:
        values = hash_random.normal(spec.seed, name, rows * columns).reshape(rows, columns)
        return name, to_bf16(round_to_q8_grid(from_bf16(to_bf16(values * gain / math.sqrt(columns)))))

    def vector(name: str, size: int, mean: float, std: float) -> tuple[str, np.ndarray]:
        return name, to_bf16(mean + std * hash_random.normal(spec.seed, name, size))

    embedding_name = "model.embed_tokens.weight"
    yield matrix(embedding_name, spec.vocab, spec.hidden, math.sqrt(spec.hidden))
    for layer in range(spec.layers):
        prefix = f"model.layers.{layer}."
        yield vector(prefix + "input_layernorm.weight", spec.hidden, 1.0, 0.2)
        yield vector(prefix + "post_attention_layernorm.weight", spec.hidden, 1.0, 0.2)
        shapes = {
            "self_attn.q_proj": (q_width, spec.hidden),
            "self_attn.k_proj": (kv_width, spec.hidden),
            "self_attn.v_proj": (kv_width, spec.hidden),
            "self_attn.o_proj": (spec.hidden, q_width),
            "mlp.gate_proj": (spec.intermediate, spec.hidden),
            "mlp.up_proj": (spec.intermediate, spec.hidden),
            "mlp.down_proj": (spec.hidden, spec.intermediate),
        }
        for name, (rows, columns) in shapes.items():
            # Larger scores would make more of a narrow cache's rounding.
            gain = 1.0 if name.endswith(("q_proj", "k_proj")) else 1.5
            yield matrix(f"{prefix}{name}.weight", rows, columns, gain)
            if spec.mlp_bias if name.startswith("mlp") else spec.attention_bias:
                yield vector(f"{prefix}{name}.bias", rows, 0.0, 0.3)
    yield vector("model.norm.weight", spec.hidden, 1.0, 0.2)
    if not spec.tied:
        yield matrix("lm_head.weight", spec.vocab, spec.hidden, 3.0)


def _config(spec: LlamaSpec) -> dict:
    config = {
        "architectures": [spec.architecture],
        "model_type": "mistral" if spec.architecture.startswith("Mistral") else "llama",
        "num_hidden_layers": spec.layers,
        "hidden_size": spec.hidden,
        "intermediate_size": spec.intermediate,
        "num_attention_heads": spec.heads,
        "num_key_value_heads": spec.kv_heads,
        "head_dim": spec.head_size,
        "vocab_size": spec.vocab,
        "max_position_embeddings": 2048,
        "rms_norm_eps": 1e-5,
        "hidden_act": "silu",
        "tie_word_embeddings": spec.tied,
        "attention_bias": spec.attention_bias,
        "mlp_bias": spec.mlp_bias,
        "rope_theta": spec.theta,
        "rope_scaling": spec.rope_scaling or None,
        "eos_token_id": spec.vocab - 1,
        "torch_dtype": "bfloat16",
    }
    if spec.architecture.startswith("Mistral"):
        config["sliding_window"] = None
    return config


_GGUF_NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
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


def _write_gguf(spec: LlamaSpec, layout: str, path: Path) -> None:
    matrix_type = {"gguf-bf16": "BF16", "gguf-f32": "F32", "gguf-q8": "Q8_0"}[layout]
    entries = []
    for name, bits in tensors(spec):
        prefix, rest = "", name
        if name.startswith("model.layers."):
            layer, rest = name.removeprefix("model.layers.").split(".", 1)
            prefix = f"blk.{layer}."
        stem, _, kind = rest.rpartition(".")
        out_name = prefix + (_GGUF_NAMES.get(rest) or f"{_GGUF_NAMES[stem]}.{kind}")
        if stem.endswith(("q_proj", "k_proj")):
            bits = permute(bits, spec.heads if stem.endswith("q_proj") else spec.kv_heads)
        if bits.ndim == 1 or matrix_type == "F32":
            entries.append(GgufTensor(out_name, "F32", bits.shape, from_bf16(bits)))
        elif matrix_type == "BF16":
            entries.append(GgufTensor(out_name, "BF16", bits.shape, bits))
        else:
            entries.append(GgufTensor(out_name, "Q8_0", bits.shape, quantise_q8(from_bf16(bits))))
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
    kind = spec.rope_scaling.get("rope_type")
    if kind == "linear":
        metadata["llama.rope.scaling.type"] = "linear"
        metadata["llama.rope.scaling.factor"] = spec.rope_scaling["factor"]
    elif kind == "llama3":
        divisors = _rope_divisors(spec)
        entries.append(GgufTensor("rope_freqs.weight", "F32", divisors.shape, divisors))
    gguf_io.write_file(path, metadata, entries)


def write_checkpoint(spec: LlamaSpec, layout: str, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    if layout != "hf":
        _write_gguf(spec, layout, out / "model.gguf")
        return
    (out / "config.json").write_text(json.dumps(_config(spec), indent=2) + "\n", encoding="utf-8")
    entries = [safetensors_io.array_entry(name, bits) for name, bits in tensors(spec)]
    safetensors_io.write_file(out / "model.safetensors", entries)
