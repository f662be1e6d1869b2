#!/usr/bin/env python3
"""Makes tests/cases/quant: blocks of GGUF's types, and what the `gguf` package decodes from them.

usage: tools/make_block_vectors.py            writes the files
       tools/make_block_vectors.py --check    makes them again and compares
Needs the packages gguf and numpy.

A file is a type's; each line is a stored block and its values as little-endian fp32, both in hex.
"""

import pathlib
import sys

import gguf
import numpy as np

CASES = pathlib.Path(__file__).resolve().parent.parent / "tests/cases/quant"

# Where a block has its F16 factors.
FACTOR_OFFSETS = {
    "Q4_0": [0],
    "Q4_1": [0, 2],
    "Q5_0": [0],
    "Q5_1": [0, 2],
    "Q8_0": [0],
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
    "MXFP4": [],
}

# Common ones, a negative one, the least and the largest subnormals, zeros of both signs, the largest.
FACTORS = [0.0123, 0.5, -0.0371, 2.0**-24, 1023 * 2.0**-24, 0.0, -0.0, 65504.0]


# MXFP4's are powers of two: among them the least two, which are subnormal.
MXFP4_FACTORS = [0, 1, 2, 118, 126, 127, 130, 250]


def make_blocks(name: str) -> np.ndarray:
    """One block for each factor; its other bytes are any, those of the last all ones."""
    num_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][1]
    blocks = np.random.default_rng(num_bytes).integers(
        0, 256, (len(FACTORS), num_bytes), dtype=np.uint8
    )
    blocks[-1] = 0xFF
    for index, offset in enumerate(FACTOR_OFFSETS[name]):
        factors = np.roll(np.array(FACTORS, dtype="<f2"), -3 * index)
        blocks[:, offset : offset + 2] = factors.view(np.uint8).reshape(-1, 2)
    if name == "MXFP4":
        blocks[:, 0] = MXFP4_FACTORS
    return blocks


def lines_of(name: str) -> str:
    blocks = make_blocks(name)
    values = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[name]).astype("<f4")
    pairs = zip(blocks, values, strict=True)
    return "".join(f"{block.tobytes().hex()} {row.tobytes().hex()}\n" for block, row in pairs)


def main() -> int:
    failures = 0
    for name in FACTOR_OFFSETS:
        path = CASES / f"{name}.txt"
        text = lines_of(name)
        if sys.argv[1:] == ["--check"]:
            if path.read_text() != text:
                print(f"{path} is not what gguf makes")
                failures += 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
