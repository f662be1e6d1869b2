"""The ways in which gpt-oss checkpoints are stored; those in safetensors as lists of entries.

hf        Hugging Face's main layout: MXFP4 experts as blocks and scales
original  OpenAI's own names, q, k and v fused; blocks and scales byte for byte as in hf
bf16      re-uploads with decoded experts, stored transposed: [experts, in, out]

Those in GGUF are in gguf_layouts.py.
"""

from collections.abc import Iterable

import numpy as np

from . import gguf_layouts, number_formats
from .safetensors_io import TensorEntry, array_entry

SAFETENSORS_LAYOUTS = ("hf", "original", "bf16")
LAYOUTS = SAFETENSORS_LAYOUTS + gguf_layouts.LAYOUTS

_ORIGINAL_NAMES = {
    "model.embed_tokens.weight": "embedding.weight",
    "model.norm.weight": "norm.scale",
    "lm_head.weight": "unembedding.weight",
    "input_layernorm.weight": "attn.norm.scale",
    "self_attn.sinks": "attn.sinks",
    "self_attn.o_proj.weight": "attn.out.weight",
    "self_attn.o_proj.bias": "attn.out.bias",
    "post_attention_layernorm.weight": "mlp.norm.scale",
    "mlp.router.weight": "mlp.gate.weight",
    "mlp.router.bias": "mlp.gate.bias",
    "mlp.experts.gate_up_proj_blocks": "mlp.mlp1_weight.blocks",
    "mlp.experts.gate_up_proj_scales": "mlp.mlp1_weight.scales",
    "mlp.experts.gate_up_proj_bias": "mlp.mlp1_bias",
    "mlp.experts.down_proj_blocks": "mlp.mlp2_weight.blocks",
    "mlp.experts.down_proj_scales": "mlp.mlp2_weight.scales",
    "mlp.experts.down_proj_bias": "mlp.mlp2_bias",
}


def _split_layer(name: str) -> tuple[str, str]:
    """"model.layers.3.x.y" -> ("3", "x.y"); other names have no layer."""
    if not name.startswith("model.layers."):
        return "", name
    layer, rest = name.removeprefix("model.layers.").split(".", 1)
    return layer, rest


def _original(tensors: Iterable[tuple[str, np.ndarray]]) -> list[TensorEntry]:
    entries = []
    fused: dict[str, list[np.ndarray]] = {"weight": [], "bias": []}
    for name, values in tensors:
        layer, rest = _split_layer(name)
        prefix = f"block.{layer}." if layer else ""
        part = rest.removeprefix("self_attn.")
        if part.startswith(("q_proj", "k_proj", "v_proj")):
            kind = part.split(".")[1]
            fused[kind].append(values)
            if part.startswith("v_proj"):
                qkv = np.concatenate(fused[kind])
                entries.append(array_entry(f"{prefix}attn.qkv.{kind}", qkv))
                fused[kind] = []
        else:
            entries.append(array_entry(prefix + _ORIGINAL_NAMES[rest], values))
    return entries


def _bf16(tensors: Iterable[tuple[str, np.ndarray]]) -> list[TensorEntry]:
    entries = []
    blocks = np.empty(0)
    for name, values in tensors:
        if name.endswith("_blocks"):
            blocks = values
        elif name.endswith("_scales"):
            decoded = number_formats.decode_mxfp4(blocks, values).transpose(0, 2, 1)
            bits = number_formats.to_bf16(decoded)
            entries.append(array_entry(name.removesuffix("_scales"), bits))
        else:
            entries.append(array_entry(name, values))
    return entries


def entries_for(layout: str, tensors: Iterable[tuple[str, np.ndarray]]) -> list[TensorEntry]:
    """Turns tensors under Hugging Face's names into the entries of a layout."""
    if layout == "hf":
        return [array_entry(name, values) for name, values in tensors]
    if layout == "original":
        return _original(tensors)
    if layout == "bf16":
        return _bf16(tensors)
    raise ValueError(f"layout '{layout}' is unknown; there are {', '.join(SAFETENSORS_LAYOUTS)}")
