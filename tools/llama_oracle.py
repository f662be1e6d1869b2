"""Hugging Face transformers' Llama in float32, from either layout. Needs .oracle-venv.

From a GGUF file the weights are those that PyPI's `gguf` de-quantises and the shape is what the
metadata says: transformers' own code computes with them, ours has no part in it.
"""

from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM
from transformers.utils import logging

logging.set_verbosity_error()
logging.disable_progress_bar()

_HF_NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_ROPE_DIVISORS = "rope_freqs.weight"


def load_hf(folder: Path) -> torch.nn.Module:
    model = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )
    return model.eval()


def _hf_name(name: str) -> str:
    stem, _, kind = name.rpartition(".")
    if not stem.startswith("blk."):
        return f"{_HF_NAMES[stem]}.{kind}"
    _, layer, stem = stem.split(".")
    return f"model.layers.{layer}.{_HF_NAMES[stem]}.{kind}"


def _in_halves(values: np.ndarray, num_heads: int) -> np.ndarray:
    """Rows of each head from neighbours, as GGUF has them, to (i, i + half)."""
    pairs = values.reshape(num_heads, -1, 2, *values.shape[1:])
    return pairs.swapaxes(1, 2).reshape(values.shape)


def _read_tensors(reader: gguf.GGUFReader) -> dict[str, np.ndarray]:
    """float32 by GGUF's names."""
    return {
        tensor.name: np.array(gguf.dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        for tensor in reader.tensors
    }


def load_gguf(path: Path) -> torch.nn.Module:
    reader = gguf.GGUFReader(path)

    def field(name: str, fallback: object = None) -> object:
        found = reader.get_field(f"llama.{name}")
        return fallback if found is None else found.contents()

    tensors = _read_tensors(reader)
    heads = field("attention.head_count")
    kv_heads = field("attention.head_count_kv", heads)
    hidden = field("embedding_length")
    config = LlamaConfig(
        num_hidden_layers=field("block_count"),
        hidden_size=hidden,
        intermediate_size=field("feed_forward_length"),
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=field("attention.key_length", hidden // heads),
        vocab_size=len(tensors["token_embd.weight"]),
        max_position_embeddings=field("context_length"),
        rms_norm_eps=field("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": field("rope.freq_base", 10000.0)},
        tie_word_embeddings="output.weight" not in tensors,
        attention_bias="blk.0.attn_q.bias" in tensors,
        mlp_bias="blk.0.ffn_up.bias" in tensors,
        attn_implementation="eager",
    )
    divisors = tensors.pop(_ROPE_DIVISORS, np.float32(field("rope.scaling.factor", 1.0)))
    weights = {}
    for name, values in tensors.items():
        stem = name.rpartition(".")[0].rpartition(".")[2]
        if stem in ("attn_q", "attn_k"):
            values = _in_halves(values, heads if stem == "attn_q" else kv_heads)
        weights[_hf_name(name)] = torch.from_numpy(np.ascontiguousarray(values))
    if config.tie_word_embeddings:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model = LlamaForCausalLM(config).float()
    model.load_state_dict(weights, strict=True)
    model.model.rotary_emb.inv_freq /= torch.from_numpy(np.asarray(divisors))
    return model.eval()


@dataclass(frozen=True)
class OracleRun:
    logits: np.ndarray  # float32 [prompt, vocab]
    greedy_tokens: list[int]
    # For each greedy token, how far the second best was below it.
    token_gaps: list[float]


@torch.no_grad()
def run(model: torch.nn.Module, prompt: list[int], num_greedy: int) -> OracleRun:
    """The prompt's logits and the greedy tokens behind it; no token ends them."""
    step = model(torch.tensor([prompt]), use_cache=True)
    logits = step.logits[0].numpy()
    tokens: list[int] = []
    gaps: list[float] = []
    for _ in range(num_greedy):
        best = torch.topk(step.logits[0, -1], 2)
        tokens.append(int(best.indices[0]))
        gaps.append(float(best.values[0] - best.values[1]))
        if len(tokens) < num_greedy:
            step = model(torch.tensor([[tokens[-1]]]), cache=step.past_key_values)
    return OracleRun(logits, tokens, gaps)
