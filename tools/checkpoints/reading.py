"""Reads a small checkpoint folder of any layout back into float64 arrays and plain settings."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .number_formats import decode_mxfp4, from_bf16
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


def read_checkpoint(folder: Path) -> tuple[Settings, Weights]:
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
