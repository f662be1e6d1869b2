"""Random Llama-like checkpoints: Hugging Face's layout and GGUF, in every type of tensor.

The float layouts of a spec hold the same values. GGUF's rows of q and k are permuted, as converters
do it (llama_gguf.py).
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import hash_random, safetensors_io
from .number_formats import from_bf16, round_to_q8_grid, to_bf16

# Layouts that hold the same values, Q8_0 among them: the values lie on its grid.
FLOAT_LAYOUTS = (
    "hf", "hf-f16", "hf-f32", "gguf-bf16", "gguf-f16", "gguf-f32", "gguf-q8",
)  # fmt: skip
# Random blocks of the types that the spec names; the values are these blocks' own.
BLOCK_LAYOUT = "gguf-blocks"


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
    # For BLOCK_LAYOUT: types by GGUF's name of a matrix ("ffn_down"); "" is that of all others.
    block_types: dict[str, str] = field(default_factory=dict)

    @property
    def head_size(self) -> int:
        return self.head_dim or self.hidden // self.heads


@dataclass(frozen=True)
class LlamaTensor:
    """One tensor under Hugging Face's name: normally distributed around `mean`."""

    name: str
    shape: tuple[int, ...]
    mean: float
    std: float

    def bits(self, seed: int) -> np.ndarray:
        """BF16; matrices hold what Q8_0 holds too."""
        values = hash_random.normal(seed, self.name, math.prod(self.shape)).reshape(self.shape)
        if len(self.shape) == 1:
            return to_bf16(self.mean + self.std * values)
        return to_bf16(round_to_q8_grid(from_bf16(to_bf16(values * self.std))))


def tensors(spec: LlamaSpec) -> Iterator[LlamaTensor]:
    q_width, kv_width = spec.heads * spec.head_size, spec.kv_heads * spec.head_size

    def matrix(name: str, rows: int, columns: int, gain: float = 1.0) -> LlamaTensor:
        return LlamaTensor(name, (rows, columns), 0.0, gain / math.sqrt(columns))

    def vector(name: str, size: int, mean: float, std: float) -> LlamaTensor:
        return LlamaTensor(name, (size,), mean, std)

    yield matrix("model.embed_tokens.weight", spec.vocab, spec.hidden, math.sqrt(spec.hidden))
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


def _config(spec: LlamaSpec, dtype: str) -> dict:
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
        "torch_dtype": dtype,
    }
    if spec.architecture.startswith("Mistral"):
        config["sliding_window"] = None
    return config


def to_f16(bits: np.ndarray) -> np.ndarray:
    """BF16 bits to F16, of values that both hold."""
    values = from_bf16(bits)
    if not np.array_equal(values.astype(np.float16).astype(np.float32), values):
        raise ValueError("F16 does not hold these values")
    return values.astype(np.float16)


def write_hf(spec: LlamaSpec, layout: str, out: Path) -> None:
    dtype, convert = {
        "hf": ("bfloat16", lambda bits: bits),
        "hf-f16": ("float16", to_f16),
        "hf-f32": ("float32", from_bf16),
    }[layout]
    config = json.dumps(_config(spec, dtype), indent=2) + "\n"
    (out / "config.json").write_text(config, encoding="utf-8")
    entries = [
        safetensors_io.array_entry(tensor.name, convert(tensor.bits(spec.seed)))
        for tensor in tensors(spec)
    ]
    safetensors_io.write_file(out / "model.safetensors", entries)
