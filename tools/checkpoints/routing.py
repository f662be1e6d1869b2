"""Models whose routing survives rounding noise.

With random routers, some token of a long run always has two experts that are nearly equal, and an
engine that computes with less precision then picks the other one: a right engine that looks wrong.
Here the first dimensions of the hidden state hold a code of +-signs that is fixed per token: no
layer writes to them. The routers listen almost only to that code, and tokens get only such codes
as leave a wide gap between the last expert chosen and the first one left out, in every layer.
"""

import numpy as np

from . import hash_random
from .spec import ModelSpec

_AMPLITUDE = 2.0
_WEIGHT_STD = 4.0
# How strongly the routers listen to the other dimensions, against spread.router.
_OTHER_DIMENSIONS = 0.1
# The gap that a code must leave, as a share of the standard deviation of the router logits.
_MIN_RELATIVE_GAP = 0.15
_MIN_CODES = 4


def _code_weights(spec: ModelSpec, layer: int) -> np.ndarray:
    """The router's weights for the code dimensions, [experts, code bits]."""
    bits = spec.spread.routing_code_bits
    name = f"routing code weights of layer {layer}"
    weights = hash_random.normal(spec.seed, name, spec.experts * bits) * _WEIGHT_STD
    return weights.reshape(spec.experts, bits)


def _usable_codes(spec: ModelSpec) -> np.ndarray:
    """Codes with a wide gap in every layer, as rows of +-1."""
    bits = spec.spread.routing_code_bits
    numbers = np.arange(2**bits)
    codes = np.where((numbers[:, None] >> np.arange(bits)) & 1, 1.0, -1.0)
    if spec.top_k == spec.experts:
        return codes
    usable = np.ones(len(codes), dtype=bool)
    for layer in range(spec.layers):
        # Summed column by column: a matrix product's rounding may differ between machines.
        weights = _code_weights(spec, layer)
        logits = np.zeros((len(codes), spec.experts))
        for bit in range(bits):
            logits += codes[:, bit, None] * weights[None, :, bit]
        ordered = np.sort(logits, axis=1)[:, ::-1]
        gaps = ordered[:, spec.top_k - 1] - ordered[:, spec.top_k]
        usable &= gaps > _MIN_RELATIVE_GAP * _WEIGHT_STD * np.sqrt(bits)
    if usable.sum() < _MIN_CODES:
        raise ValueError(f"seed {spec.seed}: only {usable.sum()} routing codes leave a wide gap")
    return codes[usable]


def write_codes(spec: ModelSpec, embedding: np.ndarray) -> None:
    """Puts each token's code into the first dimensions of `embedding` [vocab, hidden]."""
    codes = _usable_codes(spec)
    choice = hash_random.below(spec.seed, "routing code of token", spec.vocab, len(codes))
    embedding[:, : codes.shape[1]] = codes[choice] * _AMPLITUDE


def write_router(spec: ModelSpec, layer: int, router: np.ndarray) -> None:
    """Makes `router` [experts, hidden] listen to the code, and faintly to everything else."""
    router *= _OTHER_DIMENSIONS
    router[:, : spec.spread.routing_code_bits] = _code_weights(spec, layer)
