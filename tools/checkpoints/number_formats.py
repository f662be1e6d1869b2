"""BF16, MXFP4 and Q8_0 as bytes: rounding, packing and exact decoding."""

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


Q8_BLOCK = 32


def q8_grid_scales(values: np.ndarray) -> np.ndarray:
    """[..., 32 n] -> [..., n, 1]: per block, the least power of two of which no value is more than
    127 times as large; 0 for a block of zeros."""
    blocks = values.reshape(*values.shape[:-1], -1, Q8_BLOCK)
    largest = np.abs(blocks).max(axis=-1, keepdims=True).astype(np.float64)
    # frexp rather than a logarithm: exact on every machine.
    mantissa, exponent = np.frexp(largest / 127)
    exponent -= mantissa == 0.5
    return np.where(largest > 0, np.ldexp(1.0, exponent), 0.0)


def round_to_q8_grid(values: np.ndarray) -> np.ndarray:
    """The nearest values that Q8_0, and BF16 too, holds exactly."""
    scales = q8_grid_scales(values)
    blocks = values.reshape(*values.shape[:-1], -1, Q8_BLOCK)
    codes = np.rint(blocks / np.where(scales > 0, scales, 1))
    return (codes * scales).reshape(values.shape)


def quantise_q8(values: np.ndarray, scales: np.ndarray | None = None) -> np.ndarray:
    """float32 [..., 32 n] -> bytes [..., n, 34]: a scale as F16, then 32 int8.

    Without `scales` [..., n, 1] they are those of the grid, for which this is exact.
    """
    scales = q8_grid_scales(values) if scales is None else scales
    stored = scales.astype("<f2")
    blocks = values.reshape(*values.shape[:-1], -1, Q8_BLOCK).astype(np.float64)
    divisor = stored.astype(np.float64)
    codes = np.rint(blocks / np.where(divisor > 0, divisor, 1)).clip(-127, 127).astype(np.int8)
    return np.concatenate([stored.view(np.uint8), codes.view(np.uint8)], axis=-1)


def decode_q8(blocks: np.ndarray) -> np.ndarray:
    """bytes [..., n, 34] -> float64 [..., 32 n], exactly."""
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float64)
    codes = np.ascontiguousarray(blocks[..., 2:]).view(np.int8).astype(np.float64)
    return (codes * scales).reshape(*blocks.shape[:-2], -1)


def decode_ggml_mxfp4(blocks: np.ndarray) -> np.ndarray:
    """bytes [..., n, 17] -> float64 [..., 32 n], exactly."""
    pairs = blocks[..., 1:]
    values = np.concatenate([FP4_VALUES[pairs & 0x0F], FP4_VALUES[pairs >> 4]], axis=-1)
    values = np.ldexp(values.astype(np.float64), blocks[..., :1].astype(np.int32) - 127)
    return values.reshape(*blocks.shape[:-2], -1)
