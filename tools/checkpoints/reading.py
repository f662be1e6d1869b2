"""Reads a small checkpoint folder of any layout back into float64 arrays and plain settings."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import gguf_io
from .gguf_io import GgufTensor
from .number_formats import decode_ggml_mxfp4, decode_mxfp4, decode_q8, from_bf16
from .safetensors_io import read_file
from .spec import Yarn


@dataclass(frozen=True)
class Settings:
    """The numbers that the forward pass needs, whatever config.json calls them."""

    layers: int
    head_dim: int
    top_k: int
    window: int
    eps: float
    limit: float
    alpha: float
    layer_types: list[str]
    yarn: Yarn


def _settings(config: dict) -> Settings:
    layers = config["num_hidden_layers"]
    is_original = "rope_scaling_factor" in config
    if is_original:
        yarn = Yarn(
            theta=config["rope_theta"],
            factor=config["rope_scaling_factor"],
            beta_fast=config["rope_ntk_beta"],
            beta_slow=config["rope_ntk_alpha"],
            original_context=config["initial_context_length"],
        )
    else:
        rope = config.get("rope_parameters") or config["rope_scaling"]
        yarn = Yarn(
            theta=rope["rope_theta"] if "rope_theta" in rope else config["rope_theta"],
            factor=rope["factor"],
            beta_fast=rope["beta_fast"],
            beta_slow=rope["beta_slow"],
            original_context=rope["original_max_position_embeddings"],
            truncate=rope.get("truncate", True),
        )
    alternating = ["full_attention" if i % 2 else "sliding_attention" for i in range(layers)]
    return Settings(
        layers=layers,
        head_dim=config["head_dim"],
        top_k=config["experts_per_token" if is_original else "num_experts_per_tok"],
        window=config["sliding_window"],
        eps=config.get("rms_norm_eps", 1e-5),
        limit=config["swiglu_limit"],
        alpha=config.get("swiglu_alpha", 1.702),
        layer_types=config.get("layer_types", alternating),
        yarn=yarn,
    )


_LAYER_NAMES = {
    # ours: (Hugging Face, original)
    "attn_norm": ("input_layernorm.weight", "attn.norm.scale"),
    "sinks": ("self_attn.sinks", "attn.sinks"),
    "o": ("self_attn.o_proj.weight", "attn.out.weight"),
    "o_bias": ("self_attn.o_proj.bias", "attn.out.bias"),
    "mlp_norm": ("post_attention_layernorm.weight", "mlp.norm.scale"),
    "router": ("mlp.router.weight", "mlp.gate.weight"),
    "router_bias": ("mlp.router.bias", "mlp.gate.bias"),
    "w1_bias": ("mlp.experts.gate_up_proj_bias", "mlp.mlp1_bias"),
    "w2_bias": ("mlp.experts.down_proj_bias", "mlp.mlp2_bias"),
}
_EXPERT_NAMES = {
    "w1": ("mlp.experts.gate_up_proj", "mlp.mlp1_weight"),
    "w2": ("mlp.experts.down_proj", "mlp.mlp2_weight"),
}


def _floats(bits: np.ndarray) -> np.ndarray:
    return from_bf16(bits).astype(np.float64)


def _layer(files: dict[str, np.ndarray], index: int, is_original: bool) -> dict[str, np.ndarray]:
    prefix = f"block.{index}." if is_original else f"model.layers.{index}."
    layer = {
        ours: _floats(files[prefix + names[is_original]]) for ours, names in _LAYER_NAMES.items()
    }
    # Expert matrices come out as [experts, out, in].
    for ours, names in _EXPERT_NAMES.items():
        name = prefix + names[is_original]
        dot = "." if is_original else "_"
        if name in files:
            layer[ours] = _floats(files[name]).transpose(0, 2, 1)
        else:
            layer[ours] = decode_mxfp4(
                files[f"{name}{dot}blocks"], files[f"{name}{dot}scales"]
            ).astype(np.float64)
    for kind, suffix in (("weight", ""), ("bias", "_bias")):
        if is_original:
            layer["qkv" + suffix] = _floats(files[f"{prefix}attn.qkv.{kind}"])
        else:
            parts = [files[f"{prefix}self_attn.{part}_proj.{kind}"] for part in "qkv"]
            layer["qkv" + suffix] = _floats(np.concatenate(parts))
    return layer


@dataclass(frozen=True)
class Weights:
    embedding: np.ndarray
    final_norm: np.ndarray
    head: np.ndarray
    layers: list[dict[str, np.ndarray]]


def _gguf_settings(metadata: dict) -> Settings:
    name = metadata["general.architecture"]
    values = {key.removeprefix(name + "."): value for key, value in metadata.items()}
    layers = values["block_count"]
    yarn = Yarn(
        theta=values["rope.freq_base"],
        factor=values["rope.scaling.factor"],
        beta_fast=values.get("rope.scaling.yarn_beta_fast", 32.0),
        beta_slow=values.get("rope.scaling.yarn_beta_slow", 1.0),
        original_context=values["rope.scaling.original_context_length"],
    )
    return Settings(
        layers=layers,
        head_dim=values["attention.key_length"],
        top_k=values["expert_used_count"],
        window=values["attention.sliding_window"],
        # Stored as float32; what was meant is the nearest short decimal.
        eps=float(np.format_float_positional(np.float32(values["attention.layer_norm_rms_epsilon"]))),
        limit=7.0,
        alpha=1.702,
        layer_types=["full_attention" if i % 2 else "sliding_attention" for i in range(layers)],
        yarn=yarn,
    )


def _gguf_floats(tensor: GgufTensor) -> np.ndarray:
    """The values of a tensor of any type, exactly."""
    *rows, width = tensor.shape
    if tensor.type == "BF16":
        return _floats(tensor.data.view("<u2")).reshape(tensor.shape)
    if tensor.type == "F32":
        return tensor.data.view("<f4").astype(np.float64).reshape(tensor.shape)
    if tensor.type == "Q8_0":
        return decode_q8(tensor.data.reshape(*rows, width // 32, 34))
    blocks = tensor.data.reshape(*rows, width // 32, 17)
    if tensor.type == "MXFP4_OLLAMA":
        return decode_mxfp4(blocks[..., 1:], blocks[..., 0]).astype(np.float64)
    return decode_ggml_mxfp4(blocks)


_GGUF_LAYER_NAMES = {
    # ours: the names in either dialect
    "attn_norm": ("attn_norm.weight",),
    "sinks": ("attn_sinks.weight", "attn_sinks"),
    "o": ("attn_output.weight", "attn_out.weight"),
    "o_bias": ("attn_output.bias", "attn_out.bias"),
    "mlp_norm": ("post_attention_norm.weight", "ffn_norm.weight"),
    "router": ("ffn_gate_inp.weight",),
    "router_bias": ("ffn_gate_inp.bias",),
    "w2": ("ffn_down_exps.weight",),
    "w2_bias": ("ffn_down_exps.bias",),
}


def _gguf_layer(values: dict[str, np.ndarray], index: int) -> dict[str, np.ndarray]:
    prefix = f"blk.{index}."
    layer = {}
    for ours, names in _GGUF_LAYER_NAMES.items():
        (name,) = [name for name in names if prefix + name in values]
        layer[ours] = values[prefix + name]
    for kind, suffix in (("weight", ""), ("bias", "_bias")):
        if f"{prefix}ffn_gate_up_exps.{kind}" in values:
            layer["w1" + suffix] = values[f"{prefix}ffn_gate_up_exps.{kind}"]
        else:
            gate = values[f"{prefix}ffn_gate_exps.{kind}"]
            both = [gate, values[f"{prefix}ffn_up_exps.{kind}"]]
            layer["w1" + suffix] = np.stack(both, axis=2).reshape(len(gate), -1, *gate.shape[2:])
        fused = f"{prefix}attn_qkv.{kind}"
        parts = [fused] if fused in values else [f"{prefix}attn_{part}.{kind}" for part in "qkv"]
        layer["qkv" + suffix] = np.concatenate([values[part] for part in parts])
    return layer


def _read_gguf(paths: list[Path]) -> tuple[Settings, Weights]:
    metadata: dict = {}
    values: dict[str, np.ndarray] = {}
    for path in paths:
        part_metadata, tensors = gguf_io.read_file(path)
        metadata = metadata or part_metadata
        values.update({name: _gguf_floats(tensor) for name, tensor in tensors.items()})
    settings = _gguf_settings(metadata)
    layers = [_gguf_layer(values, index) for index in range(settings.layers)]
    top = ("token_embd.weight", "output_norm.weight", "output.weight")
    return settings, Weights(*(values[name] for name in top), layers=layers)


def read_checkpoint(folder: Path) -> tuple[Settings, Weights]:
    if gguf_files := sorted(folder.glob("*.gguf")):
        return _read_gguf(gguf_files)
    settings = _settings(json.loads((folder / "config.json").read_text(encoding="utf-8")))
    files: dict[str, np.ndarray] = {}
    for path in sorted(folder.glob("*.safetensors")):
        files.update(read_file(path))
    is_original = "embedding.weight" in files
    top = ("embedding.weight", "norm.scale", "unembedding.weight")
    if not is_original:
        top = ("model.embed_tokens.weight", "model.norm.weight", "lm_head.weight")
    layers = [_layer(files, index, is_original) for index in range(settings.layers)]
    return settings, Weights(*(_floats(files[name]) for name in top), layers=layers)
