"""The Llama-like models that the goldens in tests/golden/llama were made of.

Between them: 1, 2, 4 and 8 heads to a KV head, output heads of their own and shared ones, biases,
every scaling of RoPE, and every type that a tensor may have.
"""

from dataclasses import dataclass
from pathlib import Path

from .llama import BLOCK_LAYOUT, FLOAT_LAYOUTS, LlamaSpec, write_hf
from .llama_gguf import write_gguf


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
        FLOAT_LAYOUTS,
        32,
    ),
    LlamaCase(
        "tied",
        "the embedding is the output head; one head to a KV head; theta 100000",
        LlamaSpec(202, 96, 160, 2, 3, 3, 170, tied=True, theta=100000.0),
        FLOAT_LAYOUTS,
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
    LlamaCase(
        "eight-to-one",
        "8 heads to a KV head; biases of attention only; a shared head",
        LlamaSpec(206, 64, 96, 2, 8, 1, 110, head_dim=16, tied=True, attention_bias=True),
        ("hf", "hf-f32", "gguf-f32"),
        40,
    ),
    LlamaCase(
        "q8_0",
        "random Q8_0 blocks, an odd number in a row; 2 heads to a KV head",
        LlamaSpec(211, 96, 160, 2, 6, 3, 110, tied=True, block_types={"": "Q8_0"}),
        (BLOCK_LAYOUT,),
        32,
    ),
    LlamaCase(
        "q4_0",
        "random Q4_0 blocks; 8 heads to a KV head; linear scaling",
        LlamaSpec(
            212, 96, 128, 2, 8, 1, 120, head_dim=16, block_types={"": "Q4_0"},
            rope_scaling={"rope_type": "linear", "factor": 2.0},
        ),
        (BLOCK_LAYOUT,),
        32,
    ),
    LlamaCase(
        "q4_1",
        "random Q4_1 blocks, the embedding in Q8_0 as SmolLM2's file has it; Llama 3's scaling",
        LlamaSpec(
            213, 96, 64, 2, 4, 4, 110, tied=True, theta=500000.0, rope_scaling=_LLAMA3,
            block_types={"": "Q4_1", "token_embd": "Q8_0"},
        ),
        (BLOCK_LAYOUT,),
        96,
    ),
    LlamaCase(
        "q5_0",
        "random Q5_0 blocks; biases of attention",
        LlamaSpec(214, 64, 96, 2, 4, 1, 110, attention_bias=True, block_types={"": "Q5_0"}),
        (BLOCK_LAYOUT,),
        32,
    ),
    LlamaCase(
        "q5_1",
        "random Q5_1 blocks, the embedding too; biases of the MLP",
        LlamaSpec(215, 64, 96, 2, 4, 2, 110, tied=True, mlp_bias=True, block_types={"": "Q5_1"}),
        (BLOCK_LAYOUT,),
        32,
    ),
    LlamaCase(
        "q4_k",
        "random Q4_K blocks, Q6_K where the usual mix has it",
        LlamaSpec(
            216, 256, 512, 2, 8, 2, 100,
            block_types={"": "Q4_K", "attn_v": "Q6_K", "ffn_down": "Q6_K", "output": "Q6_K"},
        ),
        (BLOCK_LAYOUT,),
        32,
    ),
    LlamaCase(
        "q5_k",
        "random Q5_K blocks, the embedding too; one head to a KV head",
        LlamaSpec(217, 256, 256, 2, 4, 4, 100, tied=True, block_types={"": "Q5_K"}),
        (BLOCK_LAYOUT,),
        32,
    ),
    LlamaCase(
        "q6_k",
        "random Q6_K blocks, the embedding too; 8 heads to a KV head",
        LlamaSpec(218, 256, 256, 2, 16, 2, 100, tied=True, block_types={"": "Q6_K"}),
        (BLOCK_LAYOUT,),
        32,
    ),
)  # fmt: skip


def write_checkpoint(spec: LlamaSpec, layout: str, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    if layout.startswith("gguf"):
        write_gguf(spec, layout, out / "model.gguf")
    else:
        write_hf(spec, layout, out)


def find_case(name: str) -> LlamaCase:
    return next(case for case in CASES if case.name == name)
