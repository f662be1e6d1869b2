#!/usr/bin/env python3
"""Packs OpenAI's o200k_base.tiktoken into src/text/data/o200k_base.bin.xz.

usage: tools/make_o200k_data.py PATH/o200k_base.tiktoken          writes the packed file
       tools/make_o200k_data.py PATH/o200k_base.tiktoken --check  compares it with the tree's

The rank file has a line a token: its bytes in base64, a blank, its rank. Ranks run from 0 without
a gap, so the packed form needs no ranks: one byte with each token's length, in order of rank, then
the tokens' bytes, all in one xz stream. That is 0.8 MB instead of 3.6.
"""

import base64
import hashlib
import lzma
import pathlib
import sys

SOURCE_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
TARGET = pathlib.Path(__file__).resolve().parent.parent / "src/text/data/o200k_base.bin.xz"


def pack(rank_file: bytes) -> bytes:
    tokens = []
    for line_number, line in enumerate(rank_file.splitlines()):
        token, rank = line.split()
        if int(rank) != line_number:
            sys.exit(f"rank {int(rank)} stands on line {line_number}")
        tokens.append(base64.b64decode(token))
    return bytes(len(token) for token in tokens) + b"".join(tokens)


def main() -> None:
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    rank_file = pathlib.Path(sys.argv[1]).read_bytes()
    found = hashlib.sha256(rank_file).hexdigest()
    if found != SOURCE_SHA256:
        sys.exit(f"{sys.argv[1]} has the SHA-256 {found}, expected {SOURCE_SHA256}")
    packed = pack(rank_file)
    if sys.argv[2:] == ["--check"]:
        if lzma.decompress(TARGET.read_bytes()) != packed:
            sys.exit(f"{TARGET} does not hold the tokens of {sys.argv[1]}")
        print(f"{TARGET} is right")
        return
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]
    TARGET.write_bytes(lzma.compress(packed, lzma.FORMAT_XZ, lzma.CHECK_CRC64, filters=filters))
    print(f"{TARGET}: {TARGET.stat().st_size} bytes, {len(packed)} unpacked")


if __name__ == "__main__":
    main()
