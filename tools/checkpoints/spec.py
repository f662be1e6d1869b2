"""What one random checkpoint is: its shape, its configuration, and how its values are spread."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Yarn:
    """RoPE settings, named as in config.json. The defaults are gpt-oss's own."""

    theta: float = 150000.0
    factor: float = 32.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    original_context: int = 4096
    truncate: bool = False


@dataclass(frozen=True)
class Spread:
    """How large the random values are. Gains are standard deviations of a layer's *outputs* when
    its inputs have a root mean square of one."""

    embedding: float = 1.0
    query_key: float = 1.0
    attention_out: float = 1.0
    # Sinks of every second head lie within +-2, the others within this.
    sink: float = 10.0
    router: float = 3.0
    # Gates and ups: 4 puts several per cent of them past the limit of +-7.
    gate_up: float = 4.0
    down: float = 0.15
    head: float = 3.0
    # See routing.py: how many dimensions of the embedding hold a code that decides the routing.
    routing_code_bits: int = 0
    # How many first dimensions of the hidden state keep what the embedding put there: no layer
    # writes to them. At least the routing code's.
    kept_dimensions: int = 0


@dataclass(frozen=True)
class ModelSpec:
    """A random gpt-oss model. Two specs that are equal give the same bytes in every layout."""

    seed: int
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    experts: int
    window: int
    vocab: int
    top_k: int = 4
    eps: float = 1e-5
    swiglu_limit: float = 7.0
    swiglu_alpha: float = 1.702
    max_positions: int = 131072
    # Empty: alternating, the first layer slides.
    layer_types: tuple[str, ...] = ()
    yarn: Yarn = field(default_factory=Yarn)
    spread: Spread = field(default_factory=Spread)
    # Matrices other than the experts' have values that Q8_0 holds exactly.
    q8_grid: bool = False

    @property
    def query_width(self) -> int:
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        return self.kv_heads * self.head_dim

    @property
    def kept_dimensions(self) -> int:
        return max(self.spread.kept_dimensions, self.spread.routing_code_bits)

    def resolved_layer_types(self) -> list[str]:
        if self.layer_types:
            return list(self.layer_types)
        return [
            "sliding_attention" if layer % 2 == 0 else "full_attention"
            for layer in range(self.layers)
        ]

    def check(self) -> None:
        """Raises ValueError for a shape that the layouts cannot express."""
        for name, width in (("hidden", self.hidden), ("intermediate", self.intermediate)):
            if width % 32 != 0:
                raise ValueError(f"{name} is {width}; MXFP4 needs a multiple of 32")
        if self.heads % self.kv_heads != 0:
            raise ValueError(f"{self.heads} heads cannot share {self.kv_heads} KV heads evenly")
        if self.top_k > self.experts:
            raise ValueError(f"top_k {self.top_k} is more than the {self.experts} experts")
        if self.layer_types and len(self.layer_types) != self.layers:
            raise ValueError(f"{len(self.layer_types)} layer types for {self.layers} layers")
