"""Random blocks of the quantised types of GGUF: every bit pattern of the codes, scales as they occur.

The bytes are made directly rather than by quantising values, so that all codes, scales and minima
are met, those too that no quantiser would choose. What the values are is left to a reader.
"""

from collections.abc import Callable

import numpy as np

from . import hash_random

SUPER_BLOCK = 256


class _Draw:
    """The random numbers of one tensor's blocks."""

    def __init__(self, seed: int, name: str, count: int) -> None:
        self._seed, self._name, self._count = seed, name, count

    def codes(self, part: str, size: int) -> np.ndarray:
        """uint8 [blocks, size], all values alike."""
        flat = hash_random.below(self._seed, f"{self._name} {part}", self._count * size, 256)
        return flat.astype(np.uint8).reshape(self._count, size)

    def integers(self, part: str, size: int, low: int, high: int) -> np.ndarray:
        """int64 [blocks, size], from low to high."""
        name = f"{self._name} {part}"
        flat = hash_random.below(self._seed, name, self._count * size, high - low + 1)
        return flat.reshape(self._count, size) + low

    def factors(self, part: str, spread: float) -> np.ndarray:
        """float64 [blocks, 1], from 1 - spread to 1 + spread."""
        flat = hash_random.uniform(self._seed, f"{self._name} {part}", self._count)
        return (1 + spread * (2 * flat - 1))[:, None]


def _halves(values: np.ndarray) -> np.ndarray:
    """F16 as bytes."""
    return np.ascontiguousarray(values, dtype="<f2").view(np.uint8)


def _plain(bits: int) -> Callable[[_Draw, float], np.ndarray]:
    """Q4_0 and Q5_0: a scale, then unsigned codes of which half the range is taken off."""

    def make(draw: _Draw, std: float) -> np.ndarray:
        scale = std / (2**bits / 12**0.5) * draw.factors("scale", 0.5)
        high_bits = [draw.codes("high bits", 4)] if bits == 5 else []
        return np.concatenate([_halves(scale), *high_bits, draw.codes("codes", 16)], axis=1)

    return make


def _with_minimum(bits: int) -> Callable[[_Draw, float], np.ndarray]:
    """Q4_1 and Q5_1: a scale and what is added, then unsigned codes."""

    def make(draw: _Draw, std: float) -> np.ndarray:
        scale = std / (2**bits / 12**0.5) * draw.factors("scale", 0.5)
        added = -scale * (2**bits - 1) / 2 * draw.factors("minimum", 0.3)
        high_bits = [draw.codes("high bits", 4)] if bits == 5 else []
        parts = [_halves(scale), _halves(added), *high_bits, draw.codes("codes", 16)]
        return np.concatenate(parts, axis=1)

    return make


def _q8_0(draw: _Draw, std: float) -> np.ndarray:
    scale = std / (256 / 12**0.5) * draw.factors("scale", 0.5)
    return np.concatenate([_halves(scale), draw.codes("codes", 32)], axis=1)


def _pack_six_bits(scales: np.ndarray, minima: np.ndarray) -> np.ndarray:
    """Eight scales and eight minima, [blocks, 8] below 64 each, in 12 bytes."""
    low, high = scales[:, :4], scales[:, 4:]
    low_min, high_min = minima[:, :4], minima[:, 4:]
    parts = [
        low | (high >> 4) << 6,
        low_min | (high_min >> 4) << 6,
        (high & 15) | (high_min & 15) << 4,
    ]
    return np.concatenate(parts, axis=1).astype(np.uint8)


def _k_with_minimum(bits: int) -> Callable[[_Draw, float], np.ndarray]:
    """Q4_K and Q5_K: a scale of scales and one of minima, 8 six-bit pairs, unsigned codes."""

    def make(draw: _Draw, std: float) -> np.ndarray:
        scales = draw.integers("scales", 8, 1, 63)
        minima = np.clip(scales + draw.integers("minima", 8, -12, 12), 0, 63)
        scale = std / (2**bits / 12**0.5) / 36 * draw.factors("scale", 0.5)
        minimum = scale * (2**bits - 1) / 2 * draw.factors("minimum", 0.2)
        high_bits = [draw.codes("high bits", 32)] if bits == 5 else []
        packed = _pack_six_bits(scales, minima)
        parts = [_halves(scale), _halves(minimum), packed, *high_bits, draw.codes("codes", 128)]
        return np.concatenate(parts, axis=1)

    return make


def _q6_k(draw: _Draw, std: float) -> np.ndarray:
    scales = draw.integers("scales", 16, -127, 127).astype(np.int8).view(np.uint8)
    scale = std / (64 / 12**0.5) / 73 * draw.factors("scale", 0.5)
    parts = [draw.codes("codes", 128), draw.codes("high bits", 64), scales, _halves(scale)]
    return np.concatenate(parts, axis=1)


_MAKERS = {
    "Q4_0": (32, _plain(4)),
    "Q4_1": (32, _with_minimum(4)),
    "Q5_0": (32, _plain(5)),
    "Q5_1": (32, _with_minimum(5)),
    "Q8_0": (32, _q8_0),
    "Q4_K": (SUPER_BLOCK, _k_with_minimum(4)),
    "Q5_K": (SUPER_BLOCK, _k_with_minimum(5)),
    "Q6_K": (SUPER_BLOCK, _q6_k),
}


def random_blocks(
    type_name: str, seed: int, name: str, shape: tuple[int, int], std: float
) -> np.ndarray:
    """The bytes [rows, bytes of a row] of a random matrix whose elements deviate by about `std`."""
    block_size, make = _MAKERS[type_name]
    rows, columns = shape
    if columns % block_size != 0:
        raise ValueError(f"{name}: {type_name} needs rows of a multiple of {block_size}")
    blocks = make(_Draw(seed, name, rows * columns // block_size), std)
    return np.ascontiguousarray(blocks).reshape(rows, -1)
