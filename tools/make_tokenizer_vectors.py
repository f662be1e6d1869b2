#!/usr/bin/env python3
"""Makes tests/cases/tokenizer/o200k_strings.json with the reference libraries.

usage: tools/make_tokenizer_vectors.py            writes the file
       tools/make_tokenizer_vectors.py --check    makes it again and compares
       tools/make_tokenizer_vectors.py --show N   prints the strings of chunk N and their ids, both ways
Needs the packages in tools/text_oracles.txt.
"""

import itertools
import json
import sys

from text_oracles import ROOT, dump, hugging_face, hugging_face_harmony, tiktoken_encoding
from tokenizer_cases import STRINGS_PER_CHUNK, all_strings, hash_chunks

PATH = ROOT / "tests/cases/tokenizer/o200k_strings.json"


def plain_ids(text: str) -> list[int]:
    """tokenizers is the norm; tiktoken must agree, or the vectors are not made."""
    ids = hugging_face().encode(text, add_special_tokens=False).ids
    assert ids == tiktoken_encoding().encode_ordinary(text), repr(text)
    return ids


def ids_with_special(text: str) -> list[int]:
    return hugging_face_harmony().encode(text, add_special_tokens=False).ids


def make() -> str:
    vectors = {
        "what": "hashes of the ids of tools/tokenizer_cases.py's strings, one a chunk",
        "num_strings": sum(1 for _ in all_strings()),
        "plain": hash_chunks(dump(plain_ids(text)) for text in all_strings()),
        "with_special": hash_chunks(dump(ids_with_special(text)) for text in all_strings()),
    }
    return json.dumps(vectors, indent=0) + "\n"


def show(chunk: int) -> None:
    begin = chunk * STRINGS_PER_CHUNK
    for text in itertools.islice(all_strings(), begin, begin + STRINGS_PER_CHUNK):
        print(dump({"text": text, "ids": plain_ids(text), "with_special": ids_with_special(text)}))


def main() -> None:
    if sys.argv[1:2] == ["--show"] and len(sys.argv) == 3:
        show(int(sys.argv[2]))
    elif sys.argv[1:] == ["--check"]:
        if not PATH.exists() or PATH.read_text() != make():
            sys.exit(f"not what the libraries give: {PATH.relative_to(ROOT)}")
    elif not sys.argv[1:]:
        PATH.write_text(make())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
