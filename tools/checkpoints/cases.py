"""The golden cases: small random models, each built to make one kind of mistake visible.

Their numbers are frozen: tests/golden holds what an independent implementation computed for them.
A changed line here means new goldens (tools/make_golden.py).
"""

from dataclasses import dataclass

from .spec import ModelSpec, Spread, Yarn
from .writing import Storage


@dataclass(frozen=True)
class Case:
    name: str
    # What goes wrong in an engine that fails this case and passes the others.
    about: str
    spec: ModelSpec
    layouts: tuple[str, ...]
    storage: Storage
    prompt_length: int
    # Logits are stored for this many last positions of the prompt; 0 means all.
    stored_positions: int = 0
    # Routing gaps below this are rejected wherever they can reach a stored number.
    min_router_gap: float = 1e-3
    # Gaps between the best and the second best token below this are rejected.
    min_token_gap: float = 1e-3


def _wide(name: str, about: str, spec: ModelSpec, layouts: tuple[str, ...], **rest) -> Case:
    """A case whose routing and tokens do not depend on fine rounding."""
    return Case(name, about, spec, layouts, min_router_gap=0.2, min_token_gap=0.02, **rest)


CASES = (
    Case(
        "window-3",
        "window of 3 crossed many times; 5 experts; all layouts",
        ModelSpec(101, 64, 96, 3, 8, 2, 16, experts=5, window=3, vocab=200),
        ("hf", "original", "bf16", "gguf", "gguf-ollama", "gguf-first"),
        Storage("hub"),
        prompt_length=24,
    ),
    Case(
        "window-5-shards",
        "head_dim 64, intermediate below hidden, blocks and scales in different files",
        ModelSpec(102, 96, 64, 2, 4, 2, 64, experts=8, window=5, vocab=257),
        ("hf", "bf16", "gguf"),
        Storage("v5", num_files=3),
        prompt_length=40,
    ),
    Case(
        "window-8-alias",
        "12 experts named by the alias num_experts, one KV head, several original/ files",
        ModelSpec(103, 64, 128, 4, 4, 1, 16, experts=12, window=8, vocab=301),
        ("hf", "original", "gguf-ollama"),
        Storage("alias", num_files=2),
        prompt_length=48,
    ),
    Case(
        "window-16-minimal",
        "top 2 of 6, as many KV heads as heads, a config without optional fields",
        ModelSpec(
            104, 160, 96, 2, 8, 8, 16, experts=6, top_k=2, window=16, vocab=320,
            spread=Spread(gate_up=6.0),
        ),
        ("original", "bf16", "gguf-ollama"),
        Storage("minimal"),
        prompt_length=50,
    ),
    Case(
        "window-128",
        "gpt-oss's own window crossed twice; all 4 experts chosen",
        ModelSpec(105, 64, 96, 2, 8, 1, 64, experts=4, window=128, vocab=128),
        ("hf", "original", "gguf"),
        Storage("hub", num_files=3),
        prompt_length=300,
    ),
    Case(
        "experts-32",
        "32 experts, intermediate of a single MXFP4 block",
        ModelSpec(106, 64, 32, 2, 4, 2, 16, experts=32, window=8, vocab=256),
        ("hf", "bf16"),
        Storage("v5"),
        prompt_length=32,
    ),
    Case(
        "tiny-embedding",
        "embeddings of rms 0.001, where the epsilon outweighs the values",
        ModelSpec(
            107, 96, 128, 3, 4, 2, 64, experts=6, window=5, vocab=200,
            spread=Spread(embedding=1e-3),
        ),
        ("hf", "original", "bf16", "gguf"),
        Storage("minimal"),
        prompt_length=32,
    ),
    Case(
        "epsilon-1e-6",
        "an epsilon other than the usual one, read from the config",
        ModelSpec(
            108, 64, 96, 2, 4, 2, 16, experts=5, window=8, vocab=200, eps=1e-6,
            spread=Spread(embedding=1e-3),
        ),
        ("hf", "bf16", "gguf"),
        Storage("hub"),
        prompt_length=24,
    ),
    Case(
        "big-sinks",
        "sinks up to +-10 against small scores: most heads are drowned or untouched",
        ModelSpec(
            109, 64, 96, 3, 16, 4, 16, experts=8, window=16, vocab=220,
            spread=Spread(sink=10.0, query_key=0.6, attention_out=2.0),
        ),
        ("hf", "original"),
        Storage("v5"),
        prompt_length=48,
    ),
    Case(
        "past-the-limit",
        "a third of gates and ups beyond +-7",
        ModelSpec(
            110, 96, 160, 2, 4, 2, 16, experts=8, window=8, vocab=240,
            spread=Spread(gate_up=8.0, down=0.08),
        ),
        ("original", "bf16"),
        Storage("alias"),
        prompt_length=32,
    ),
    Case(
        "yarn-short-context",
        "YaRN's far range within 200 tokens: original context 64, factor 4, theta 10000",
        ModelSpec(
            111, 64, 96, 2, 4, 2, 64, experts=5, window=16, vocab=160,
            yarn=Yarn(theta=10000.0, factor=4.0, beta_fast=8.0, beta_slow=1.0, original_context=64),
        ),
        ("hf", "original", "gguf"),
        Storage("hub"),
        prompt_length=200,
    ),
    Case(
        "yarn-truncate",
        "no `truncate` in the config, so ramp bounds are rounded; they also need clamping",
        ModelSpec(
            112, 64, 96, 2, 4, 2, 64, experts=6, window=8, vocab=160,
            yarn=Yarn(theta=20.0, factor=8.0, original_context=128, truncate=True),
        ),
        ("hf", "bf16"),
        Storage("v5"),
        prompt_length=160,
    ),
    Case(
        "layer-types",
        "full, sliding, sliding; limit 3.5 and alpha 1.5: all must come from the config",
        ModelSpec(
            113, 64, 128, 3, 8, 4, 16, experts=5, window=5, vocab=210,
            swiglu_limit=3.5, swiglu_alpha=1.5,
            layer_types=("full_attention", "sliding_attention", "sliding_attention"),
        ),
        ("hf", "bf16"),
        Storage("v5", num_files=2),
        prompt_length=32,
    ),
    Case(
        "long-prompt",
        "YaRN past 4,096 tokens at gpt-oss's own settings",
        ModelSpec(
            114, 64, 32, 2, 4, 1, 64, experts=8, window=128, vocab=256,
            spread=Spread(routing_code_bits=6),
        ),
        ("hf", "original"),
        Storage("hub"),
        prompt_length=4200,
        stored_positions=8,
        min_router_gap=0.05,
    ),
    _wide(
        "wide-8-experts",
        "wide routing, window 8, head_dim 64",
        ModelSpec(
            121, 128, 96, 3, 4, 2, 64, experts=8, window=8, vocab=256,
            spread=Spread(routing_code_bits=6, gate_up=6.0),
        ),
        ("hf", "original", "bf16", "gguf"),
        storage=Storage("hub"),
        prompt_length=40,
    ),
    _wide(
        "wide-12-experts",
        "wide routing, window 16, head_dim 16",
        ModelSpec(
            122, 64, 128, 3, 8, 2, 16, experts=12, window=16, vocab=200,
            spread=Spread(routing_code_bits=6),
        ),
        ("hf", "original", "gguf-ollama", "gguf-first"),
        storage=Storage("v5"),
        prompt_length=64,
    ),
    _wide(
        "wide-32-experts",
        "wide routing, window 128, 8 heads to a KV head as in gpt-oss",
        ModelSpec(
            123, 96, 64, 2, 8, 1, 64, experts=32, window=128, vocab=128,
            spread=Spread(routing_code_bits=6),
        ),
        ("hf", "bf16"),
        storage=Storage("alias"),
        prompt_length=200,
    ),
    _wide(
        "wide-top-2",
        "wide routing, top 2 of 6, hidden of 5 blocks",
        ModelSpec(
            124, 160, 96, 3, 4, 4, 16, experts=6, top_k=2, window=5, vocab=300,
            spread=Spread(routing_code_bits=6, gate_up=6.0),
        ),
        ("original", "hf", "gguf"),
        storage=Storage("minimal"),
        prompt_length=48,
    ),
    _wide(
        "wide-q8",
        "matrices in Q8_0 beside MXFP4 experts; scales of all sizes",
        ModelSpec(
            125, 96, 128, 3, 8, 2, 64, experts=8, window=8, vocab=232, q8_grid=True,
            spread=Spread(routing_code_bits=6, gate_up=6.0),
        ),
        ("hf", "gguf-q8", "gguf"),
        storage=Storage("hub"),
        prompt_length=48,
    ),
)


def find_case(name: str) -> Case:
    for case in CASES:
        if case.name == name:
            return case
    known = ", ".join(case.name for case in CASES)
    raise ValueError(f"there is no case '{name}'; the cases are {known}")
