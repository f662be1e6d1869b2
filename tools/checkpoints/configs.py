"""config.json in the spellings that are met in the wild."""

from .spec import ModelSpec

STYLES = ("hub", "v5", "alias", "minimal")

_NOT_QUANTISED = [
    "model.layers.*.self_attn",
    "model.layers.*.mlp.router",
    "model.embed_tokens",
    "lm_head",
]


def original_config(spec: ModelSpec) -> dict:
    """OpenAI's config.json: exactly the keys that its loader takes."""
    return {
        "num_hidden_layers": spec.layers,
        "num_experts": spec.experts,
        "experts_per_token": spec.top_k,
        "vocab_size": spec.vocab,
        "hidden_size": spec.hidden,
        "intermediate_size": spec.intermediate,
        "swiglu_limit": spec.swiglu_limit,
        "head_dim": spec.head_dim,
        "num_attention_heads": spec.heads,
        "num_key_value_heads": spec.kv_heads,
        "sliding_window": spec.window,
        "initial_context_length": spec.yarn.original_context,
        "rope_theta": spec.yarn.theta,
        "rope_scaling_factor": spec.yarn.factor,
        "rope_ntk_alpha": spec.yarn.beta_slow,
        "rope_ntk_beta": spec.yarn.beta_fast,
    }


def _rope_scaling(spec: ModelSpec) -> dict:
    return {
        "rope_type": "yarn",
        "factor": spec.yarn.factor,
        "beta_fast": spec.yarn.beta_fast,
        "beta_slow": spec.yarn.beta_slow,
        "original_max_position_embeddings": spec.yarn.original_context,
        # Absent means true, so absence is the spelling to test.
        **({} if spec.yarn.truncate else {"truncate": False}),
    }


def _special_tokens(spec: ModelSpec) -> dict:
    """gpt-oss's own ids where the vocabulary reaches that far, else the last ids."""
    if spec.vocab > 200018:
        return {"eos_token_id": 200002, "pad_token_id": 199999}
    return {"eos_token_id": spec.vocab - 1, "pad_token_id": spec.vocab - 2}


def hugging_face_config(spec: ModelSpec, style: str, quantised: bool) -> dict:
    """Hugging Face's config.json.

    hub      as uploaded in 2025: rope_scaling and rope_theta, torch_dtype
    v5       as transformers 5 writes it: rope_parameters, dtype, swiglu_alpha
    alias    num_experts for num_local_experts, dtype, no layer_types
    minimal  only what cannot be guessed, no layer_types
    """
    config: dict = {
        "architectures": ["GptOssForCausalLM"],
        "model_type": "gpt_oss",
        "num_hidden_layers": spec.layers,
        "num_experts_per_tok": spec.top_k,
        "hidden_size": spec.hidden,
        "intermediate_size": spec.intermediate,
        "head_dim": spec.head_dim,
        "num_attention_heads": spec.heads,
        "num_key_value_heads": spec.kv_heads,
        "sliding_window": spec.window,
        "max_position_embeddings": spec.max_positions,
        "rms_norm_eps": spec.eps,
        "swiglu_limit": spec.swiglu_limit,
        "vocab_size": spec.vocab,
        "tie_word_embeddings": False,
        **_special_tokens(spec),
    }
    config["num_experts" if style == "alias" else "num_local_experts"] = spec.experts
    if style == "v5":
        config["rope_parameters"] = {**_rope_scaling(spec), "rope_theta": spec.yarn.theta}
        config["swiglu_alpha"] = spec.swiglu_alpha
    else:
        config["rope_scaling"] = _rope_scaling(spec)
        config["rope_theta"] = spec.yarn.theta
    if style != "minimal":
        config["torch_dtype" if style == "hub" else "dtype"] = "bfloat16"
        config["attention_bias"] = True
        config["attention_dropout"] = 0.0
        config["hidden_act"] = "silu"
        config["initial_context_length"] = spec.yarn.original_context
        config["initializer_range"] = 0.02
        config["output_router_logits"] = False
        config["router_aux_loss_coef"] = 0.9
        config["use_cache"] = True
    if style == "hub":
        config["experts_per_token"] = spec.top_k
        config["transformers_version"] = "4.55.0.dev0"
    if style in ("hub", "v5"):
        config["layer_types"] = spec.resolved_layer_types()
    if quantised:
        config["quantization_config"] = {
            "quant_method": "mxfp4",
            "modules_to_not_convert": _NOT_QUANTISED,
        }
    return config


def generation_config(spec: ModelSpec) -> dict:
    """generation_config.json, for models with gpt-oss's own vocabulary."""
    tokens = _special_tokens(spec)
    return {
        "bos_token_id": 199998,
        "do_sample": True,
        "eos_token_id": [200002, 199999, 200012],
        "pad_token_id": tokens["pad_token_id"],
        "transformers_version": "4.55.0.dev0",
    }
