"""Strings that try a tokenizer, drawn again wherever they are needed: only the hashes of their ids
are stored. tools/make_tokenizer_vectors.py makes these with the reference libraries, and
tests/text/test_tokenizer_commands.py compares.
"""

import hashlib
import random
from collections.abc import Iterable, Iterator

STRINGS_PER_CHUNK = 1000
POINTS_PER_STRING = 7
NUM_RANDOM_CHUNKS = 70

FRAGMENTS = (
    # contractions, in any case, and what looks like them
    ["'s", "'S", "'t", "'LL", "'ll", "'Re", "'ve", "'VE", "'d", "'m", "'M", "'", "''", "\u2019s"]
    + ["'\u017f", "'\u212a", "it's", "I'LL", "WE'RE", "o'clock"]
    # white space, what is none, and controls
    + ["\n", "\r\n", "\n\n", "\r", " ", "  ", "   ", "\t", "\u00a0", "\u3000", "\u2028", "\u0085"]
    + ["\u1680", "\u180e", "\u200b", "\u2060", "\ufeff", "\u0000", "\u001c", "\u001f", "\u007f"]
    # words and code
    + ["Hello", "WORLD", "camelCaseHTTPServer", "snake_case", " the", " and", "naïve", "Straße"]
    + ["/", "//", "...", "http://a.b/c?d=e", '{"a": 1}', "()", "!=", "->", "#include", "\\n", "=="]
    # scripts, marks, ligatures, emoji
    + ["日本語", "漢字", "かな", "カナ", "한국어", "नमस्ते", "สวัสดี", "مرحبا", "שלום", "Привет"]
    + ["ǅ", "ﬁ", "ª", "ʰ", "é", "e\u0301", "ß", "ẞ", "İ", "ı", "\u0301", "\u0323\u0302", "Ⅷ", "²"]
    + ["👨\u200d👩\u200d👧\u200d👦", "🇺🇸🇩🇪", "👍🏽", "☃\ufe0f", "❤", "１２３", "٣٤", "½"]
    # digits
    + ["1", "12", "123", "1234567", "3.14159", "0x7fff"]
    # the texts of special tokens, whole and broken
    + ["<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>", "<|call|>"]
    + ["<|constrain|>", "<|endoftext|>", "<|startoftext|>", "<|endofprompt|>"]
    + ["<|reserved_200000|>", "<|reserved_200500|>", "<|", "|>", "<|start", "start|>", "<||>"]
)

RANGES = (
    (0x20, 0x7E),
    (0x20, 0x7E),
    (0x00, 0xFF),
    (0x100, 0x24F),
    (0x300, 0x52F),
    (0x590, 0x8FF),
    (0x900, 0xDFF),
    (0xE00, 0x1FFF),
    (0x2000, 0x2FFF),
    (0x3000, 0x30FF),
    (0x3400, 0x9FFF),
    (0xA000, 0xD7FF),
    (0xE000, 0xFFFF),
    (0x10000, 0x1FFFF),
    (0x1F300, 0x1FAFF),
    (0x20000, 0x323AF),
    (0xE0000, 0x10FFFF),
)

CONTEXTS = ("", "", "", "a", "B", " ", "  ", "1", "\n", "'s", "é", "日", ".", "\u0301", "x y")


class Draw:
    """Only random.Random.random() is promised to stay the same from version to version."""

    def __init__(self, seed: int):
        self._random = random.Random(seed).random

    def below(self, bound: int) -> int:
        return int(self._random() * bound)

    def choice(self, items):
        return items[int(self._random() * len(items))]


def strings_of_all_code_points() -> Iterator[str]:
    """Every code point but the surrogates once, in a shuffled order and in changing company."""
    points = [*range(0xD800), *range(0xE000, 0x110000)]
    draw = Draw(1)
    for last in range(len(points) - 1, 0, -1):
        other = draw.below(last + 1)
        points[last], points[other] = points[other], points[last]
    for begin in range(0, len(points), POINTS_PER_STRING):
        yield "".join(
            draw.choice(CONTEXTS) + chr(point)
            for point in points[begin : begin + POINTS_PER_STRING]
        )


def random_strings() -> Iterator[str]:
    draw = Draw(2)
    for _ in range(NUM_RANDOM_CHUNKS * STRINGS_PER_CHUNK):
        pieces = []
        for _ in range(draw.below(20)):
            kind = draw.below(10)
            if kind < 6:
                pieces.append(draw.choice(FRAGMENTS))
            elif kind < 7:
                pieces.append(draw.choice(FRAGMENTS) * (2 + draw.below(12)))
            else:
                first, last = draw.choice(RANGES)
                for _ in range(1 + draw.below(6)):
                    pieces.append(chr(first + draw.below(last - first + 1)))
        yield "".join(pieces)


def all_strings() -> Iterator[str]:
    yield from strings_of_all_code_points()
    yield from random_strings()


def hash_chunks(lines: Iterable[str]) -> list[str]:
    """One hash for each 1,000 lines (the last may have fewer): lists of ids, as compact JSON."""
    hashes = []
    chunk = hashlib.blake2b(digest_size=8)
    count = 0
    for line in lines:
        chunk.update(line.encode())
        chunk.update(b"\n")
        count += 1
        if count % STRINGS_PER_CHUNK == 0:
            hashes.append(chunk.hexdigest())
            chunk = hashlib.blake2b(digest_size=8)
    if count % STRINGS_PER_CHUNK != 0:
        hashes.append(chunk.hexdigest())
    return hashes
