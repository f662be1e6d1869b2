"""The libraries that Rapt's text code is held against, set up from the tree alone.

Everything comes from src/text/data/o200k_base.bin.xz: the rank file that tiktoken and
openai-harmony read, and the merge list that tokenizers reads. (The merge list made here equals
that of gpt-oss' own tokenizer.json.) Needs the packages in tools/text_oracles.txt.
"""

import base64
import functools
import json
import lzma
import os
import pathlib
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NUM_RANKS = 199_998
PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


@functools.cache
def ranked_tokens() -> list[bytes]:
    data = lzma.decompress((ROOT / "src/text/data/o200k_base.bin.xz").read_bytes())
    tokens, begin = [], NUM_RANKS
    for length in data[:NUM_RANKS]:
        tokens.append(data[begin : begin + length])
        begin += length
    return tokens


def byte_level(token: bytes) -> str:
    return "".join(_alphabet()[byte] for byte in token)


@functools.cache
def _alphabet() -> list[str]:
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def _merges(tokens: list[bytes]) -> list[tuple[str, str]]:
    rank = {token: i for i, token in enumerate(tokens)}
    merges = []
    for token in tokens:
        pairs = []
        for cut in range(1, len(token)):
            left, right = token[:cut], token[cut:]
            if left in rank and right in rank:
                pairs.append((rank[left], rank[right], left, right))
        merges += [(byte_level(left), byte_level(right)) for _, _, left, right in sorted(pairs)]
    return merges


def hugging_face_o200k():
    """tokenizers' o200k, without special tokens."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    tokens = ranked_tokens()
    vocab = {byte_level(token): i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=_merges(tokens), ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer


@functools.cache
def hugging_face():
    """The norm for text: no special token is known, so none is found in it."""
    return hugging_face_o200k()


SPECIAL_NAMES = {
    199_998: "<|startoftext|>",
    199_999: "<|endoftext|>",
    200_002: "<|return|>",
    200_003: "<|constrain|>",
    200_005: "<|channel|>",
    200_006: "<|start|>",
    200_007: "<|end|>",
    200_008: "<|message|>",
    200_012: "<|call|>",
    200_018: "<|endofprompt|>",
}


@functools.cache
def hugging_face_harmony():
    """The norm for text whose special tokens count: with the 21 of gpt-oss' tokenizer.json."""
    from tokenizers import AddedToken

    tokenizer = hugging_face_o200k()
    names = [SPECIAL_NAMES.get(i, f"<|reserved_{i}|>") for i in range(199_998, 200_019)]
    tokenizer.add_special_tokens([AddedToken(name, normalized=False) for name in names])
    return tokenizer


@functools.cache
def tiktoken_encoding():
    import tiktoken

    ranks = {token: i for i, token in enumerate(ranked_tokens())}
    return tiktoken.Encoding("o200k", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


@functools.cache
def harmony():
    """openai-harmony's encoding. It checks the rank file's hash by itself."""
    folder = tempfile.mkdtemp(prefix="o200k-")
    lines = b"".join(
        base64.b64encode(token) + b" %d\n" % i for i, token in enumerate(ranked_tokens())
    )
    pathlib.Path(folder, "o200k_base.tiktoken").write_bytes(lines)
    os.environ["TIKTOKEN_ENCODINGS_BASE"] = folder
    from openai_harmony import HarmonyEncodingName, load_harmony_encoding

    return load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)


class Random:
    """splitmix64: small enough to be written again in C++ (tests draw the same strings)."""

    MASK = (1 << 64) - 1

    def __init__(self, seed: int):
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & self.MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & self.MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & self.MASK
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        return self.next() % bound

    def choice(self, items):
        return items[self.below(len(items))]


class IdHash:
    """FNV-1a over lists of ids: four bytes an id, little-endian, and -1 after each list."""

    def __init__(self):
        self.value = 0xCBF29CE484222325

    def add(self, ids: list[int]) -> None:
        for number in [*ids, 0xFFFFFFFF]:
            for byte in number.to_bytes(4, "little"):
                self.value = ((self.value ^ byte) * 0x100000001B3) & Random.MASK

    def hex(self) -> str:
        return f"{self.value:016x}"


def dump(value) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
