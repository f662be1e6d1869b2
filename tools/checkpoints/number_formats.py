"""BF16 and MXFP4 as bytes: rounding, packing and exact decoding."""

import numpy as np

# E2M1 code -> value; the sign is bit 3.
FP4_VALUES = np.array(
    [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], dtype=np.float32
)
FP4_RMS = float(np.sqrt(np.mean(FP4_VALUES.astype(np.float64) ** 2)))
FP4_BLOCK = 32


def to_bf16(values: np.ndarray) -> np.ndarray:
    """Rounds floats (via float32) to bfloat16, ties to even; returns the bits as uint16."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounding = ((bits >> np.uint32(16)) & np.uint32(1)) + np.uint32(0x7FFF)
    return ((bits + rounding) >> np.uint32(16)).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """Bits of bfloat16 (uint16) to float32, exactly."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def decode_mxfp4(blocks: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """blocks [..., n, 16], scales [..., n] -> float32 [..., 32 n]. Every value is exact in BF16.

    Byte j of a block holds element 2j in its low nibble and element 2j + 1 in its high one.
    """
    values = np.empty((*blocks.shape[:-1], FP4_BLOCK), dtype=np.float32)
    values[..., 0::2] = FP4_VALUES[blocks & 0x0F]
    values[..., 1::2] = FP4_VALUES[blocks >> 4]
    values = np.ldexp(values, scales.astype(np.int32)[..., None] - 127)
    return values.reshape(*blocks.shape[:-2], -1)
