#!/usr/bin/env python3
"""Makes tests/cases/quant: super-blocks of GGUF's K-quants, and what the `gguf` package decodes.

usage: tools/make_kquant_vectors.py            writes the files
       tools/make_kquant_vectors.py --check    makes them again and compares
Needs the packages gguf and numpy.

A file is a type's; each line is a super-block and its 256 values as little-endian fp32, both in hex.
"""

import pathlib
import sys

import gguf
import numpy as np

CASES = pathlib.Path(__file__).resolve().parent.parent / "tests/cases/quant"

# Where a super-block has its F16 factors.
FACTOR_OFFSETS = {"Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}

# Common ones, a negative one, the least and the largest subnormals, zeros of both signs, the largest.
FACTORS = [0.0123, 0.5, -0.0371, 2.0**-24, 1023 * 2.0**-24, 0.0, -0.0, 65504.0]


def make_blocks(name: str) -> np.ndarray:
    """One super-block for each factor; its other bytes are any, those of the last all ones."""
    num_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][1]
    blocks = np.random.default_rng(num_bytes).integers(
        0, 256, (len(FACTORS), num_bytes), dtype=np.uint8
    )
    blocks[-1] = 0xFF
    for index, offset in enumerate(FACTOR_OFFSETS[name]):
        factors = np.roll(np.array(FACTORS, dtype="<f2"), -3 * index)
        blocks[:, offset : offset + 2] = factors.view(np.uint8).reshape(-1, 2)
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
