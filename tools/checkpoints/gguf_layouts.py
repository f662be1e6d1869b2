"""gpt-oss as GGUF files have it.

gguf         llama.cpp's dialect: gate and up apart, MXFP4 experts, other matrices in BF16
gguf-q8      the same with the other matrices in Q8_0; exact for a spec with `q8_grid`
gguf-ollama  Ollama's dialect: other names, q, k and v fused, matrices in F32
gguf-first   as Ollama's first files: its dialect, gate and up alternating in one tensor, MXFP4 under
             another number with its codes in Hugging Face's order, all else in BF16
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from . import gguf_io, gguf_tokenizer
from .gguf_io import U16, GgufTensor
from .number_formats import from_bf16, quantise_q8
from .spec import ModelSpec

LAYOUTS = ("gguf", "gguf-q8", "gguf-ollama", "gguf-first")

_MATRIX_TYPES = {"gguf": "BF16", "gguf-q8": "Q8_0", "gguf-ollama": "F32", "gguf-first": "BF16"}
_OLLAMA = ("gguf-ollama", "gguf-first")

_NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    "input_layernorm.weight": "attn_norm.weight",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.sinks": "attn_sinks.weight",
    "post_attention_layernorm.weight": "post_attention_norm.weight",
    "mlp.router": "ffn_gate_inp",
    "mlp.experts.down_proj_bias": "ffn_down_exps.bias",
}
_OLLAMA_NAMES = {
    "self_attn.o_proj": "attn_out",
    "self_attn.sinks": "attn_sinks",
    "post_attention_layernorm.weight": "ffn_norm.weight",
}


def is_expressible(spec: ModelSpec) -> bool:
    """GGUF has no keys for what is the same in every published gpt-oss."""
    plain = ModelSpec(**{**vars(spec), "layer_types": ()})
    return (
        spec.resolved_layer_types() == plain.resolved_layer_types()
        and spec.swiglu_limit == 7.0
        and spec.swiglu_alpha == 1.702
        and not spec.yarn.truncate
    )


def _metadata(spec: ModelSpec, layout: str) -> dict[str, object]:
    is_ollama = layout in _OLLAMA
    name = "gptoss" if is_ollama else "gpt-oss"
    values: dict[str, object] = {
        "block_count": spec.layers,
        "context_length": spec.max_positions,
        "embedding_length": spec.hidden,
        "feed_forward_length": spec.intermediate,
        "expert_count": spec.experts,
        "expert_used_count": spec.top_k,
        "attention.head_count": spec.heads,
        "attention.head_count_kv": spec.kv_heads,
        "attention.key_length": spec.head_dim,
        "attention.value_length": spec.head_dim,
        "attention.layer_norm_rms_epsilon": float(spec.eps),
        "attention.sliding_window": spec.window,
        "rope.freq_base": float(spec.yarn.theta),
        "rope.scaling.factor": float(spec.yarn.factor),
        "rope.scaling.original_context_length": spec.yarn.original_context,
    }
    if not is_ollama:
        values["expert_feed_forward_length"] = spec.intermediate
        values["rope.scaling.type"] = "yarn"
    if (spec.yarn.beta_fast, spec.yarn.beta_slow) != (32.0, 1.0):
        values["rope.scaling.yarn_beta_fast"] = float(spec.yarn.beta_fast)
        values["rope.scaling.yarn_beta_slow"] = float(spec.yarn.beta_slow)
    end_token = spec.vocab - 1
    metadata: dict[str, object] = {"general.architecture": name}
    metadata |= {f"{name}.{key}": value for key, value in values.items()}
    if is_ollama:
        metadata["general.file_type"] = 4
        metadata["tokenizer.ggml.eos_token_ids"] = [end_token]
    else:
        metadata["general.file_type"] = 38
        metadata["tokenizer.ggml.eos_token_id"] = end_token
    metadata["tokenizer.ggml.padding_token_id"] = spec.vocab - 2
    if spec.vocab == gguf_tokenizer.VOCABULARY:
        metadata |= gguf_tokenizer.o200k_harmony()
    return metadata


def _stored(name: str, type_name: str, bits: np.ndarray) -> GgufTensor:
    """A tensor of BF16 bits in one of the types."""
    if type_name == "BF16":
        data = bits
    elif type_name == "F32":
        data = from_bf16(bits)
    else:
        data = quantise_q8(from_bf16(bits))
    return GgufTensor(name, type_name, bits.shape, data)


def ggml_mxfp4(blocks: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """blocks [..., n, 16] and scales [..., n] -> bytes [..., n, 17]: the scale, then byte j with
    element j in its low nibble and element j + 16 in its high one."""
    codes = np.empty((*blocks.shape[:-1], 32), dtype=np.uint8)
    codes[..., 0::2] = blocks & 0x0F
    codes[..., 1::2] = blocks >> 4
    pairs = codes[..., :16] | (codes[..., 16:] << 4)
    return np.concatenate([scales[..., None], pairs], axis=-1)


def _mxfp4(name: str, blocks: np.ndarray, scales: np.ndarray) -> GgufTensor:
    shape = (*blocks.shape[:-2], blocks.shape[-2] * 32)
    return GgufTensor(name, "MXFP4", shape, ggml_mxfp4(blocks, scales))


def tensors_for(
    layout: str, tensors: Iterable[tuple[str, np.ndarray]]
) -> list[GgufTensor]:
    """Turns tensors under Hugging Face's names into those of a GGUF layout."""
    matrix_type = _MATRIX_TYPES[layout]
    names = _NAMES | (_OLLAMA_NAMES if layout in _OLLAMA else {})
    vector_type = "BF16" if layout == "gguf-first" else "F32"
    fused: dict[str, list[np.ndarray]] = {"weight": [], "bias": []}
    blocks = np.empty(0)
    out = []
    for name, values in tensors:
        prefix, rest = "", name
        if name.startswith("model.layers."):
            layer, rest = name.removeprefix("model.layers.").split(".", 1)
            prefix = f"blk.{layer}."
        if rest.endswith("_blocks"):
            blocks = values
        elif layout == "gguf-first" and rest.startswith("mlp.experts."):
            stem = "ffn_gate_up_exps" if "gate_up" in rest else "ffn_down_exps"
            if rest.endswith("_bias"):
                out.append(_stored(f"{prefix}{stem}.bias", "BF16", values))
            else:
                data = np.concatenate([values[..., None], blocks], axis=-1)
                shape = (*blocks.shape[:-2], blocks.shape[-2] * 32)
                out.append(GgufTensor(f"{prefix}{stem}.weight", "MXFP4_OLLAMA", shape, data))
        elif rest == "mlp.experts.gate_up_proj_scales":
            for part, name_out in enumerate(("ffn_gate_exps.weight", "ffn_up_exps.weight")):
                half = blocks[:, part::2], values[:, part::2]
                out.append(_mxfp4(prefix + name_out, *half))
        elif rest == "mlp.experts.down_proj_scales":
            out.append(_mxfp4(prefix + "ffn_down_exps.weight", blocks, values))
        elif rest == "mlp.experts.gate_up_proj_bias":
            for part, name_out in enumerate(("ffn_gate_exps.bias", "ffn_up_exps.bias")):
                out.append(_stored(prefix + name_out, "F32", values[:, part::2]))
        else:
            stem, _, kind = rest.rpartition(".")
            is_matrix = values.ndim == 2 and not rest.startswith("mlp.")
            type_name = matrix_type if is_matrix else vector_type
            if layout in _OLLAMA and stem.endswith(("q_proj", "k_proj", "v_proj")):
                fused[kind].append(values)
                if stem.endswith("v_proj"):
                    name_out = f"{prefix}attn_qkv.{kind}"
                    out.append(_stored(name_out, type_name, np.concatenate(fused[kind])))
                    fused[kind] = []
                continue
            name_out = names[rest] if rest in names else f"{names[stem]}.{kind}"
            out.append(_stored(prefix + name_out, type_name, values))
    return out


def _part_names(num_files: int) -> list[str]:
    if num_files == 1:
        return ["model.gguf"]
    return [f"model-{i + 1:05}-of-{num_files:05}.gguf" for i in range(num_files)]


def write_gguf(
    spec: ModelSpec,
    layout: str,
    num_files: int,
    out: Path,
    tensors: Iterable[tuple[str, np.ndarray]],
) -> None:
    """Writes the model into the folder `out`, in several files if asked."""
    if not is_expressible(spec):
        raise ValueError("GGUF has no key for what is unusual about this model")
    names = _part_names(num_files)
    for path in sorted(out.glob("*.gguf")):
        if path.name not in names:
            raise ValueError(f"{path} is in the way; name an empty or a new folder")
    metadata, entries = _metadata(spec, layout), tensors_for(layout, tensors)
    share = -(-len(entries) // num_files)
    for index, name in enumerate(names):
        values = metadata if index == 0 else {}
        if num_files > 1:
            values = values | {
                "split.no": U16(index),
                "split.count": U16(num_files),
                "split.tensors.count": len(entries),
            }
        part = entries[index * share : (index + 1) * share]
        gguf_io.write_file(out / name, values, part)
