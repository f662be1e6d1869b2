"""Random numbers that are the same bytes forever.

numpy's generators may change between versions, and so may its exp and log. Everything here is
integer hashing followed by float64 sums, products and square roots, which IEEE 754 defines exactly.
Each value depends on (seed, stream name, index) only, so a tensor can be made in any order.
"""

import math

import numpy as np

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
# Four uniform 16-bit integers are added for one normal value; this is the sum's standard deviation.
_SUM_STD = math.sqrt(4 * (65536**2 - 1) / 12)


def stream_key(seed: int, name: str) -> int:
    """The 64-bit key of one stream: FNV-1a over the text "seed/name"."""
    key = 0xCBF29CE484222325
    for byte in f"{seed}/{name}".encode():
        key = ((key ^ byte) * 0x100000001B3) & _MASK
    return key


def integers(seed: int, name: str, count: int, first: int = 0) -> np.ndarray:
    """`count` hashed uint64 values, those with indices first, first + 1, ... of the stream."""
    start = (stream_key(seed, name) + (first + 1) * _GOLDEN) & _MASK
    z = np.arange(count, dtype=np.uint64) * np.uint64(_GOLDEN) + np.uint64(start)
    # The finaliser of splitmix64.
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(seed: int, name: str, count: int) -> np.ndarray:
    """float64 in [0, 1), 53 random bits each."""
    return (integers(seed, name, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal(seed: int, name: str, count: int) -> np.ndarray:
    """About standard normal float64 (a sum of four uniforms: mean 0, variance 1, within +-3.47)."""
    bits = integers(seed, name, count)
    total = np.zeros(count, dtype=np.int64)
    for shift in (0, 16, 32, 48):
        total += ((bits >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.int64)
    return (total - 2 * 65535).astype(np.float64) / _SUM_STD


def below(seed: int, name: str, count: int, limit: int) -> np.ndarray:
    """int64 in [0, limit), for limits far below 2^64."""
    return (integers(seed, name, count) % np.uint64(limit)).astype(np.int64)
