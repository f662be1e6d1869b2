#!/usr/bin/env python3
"""Makes the vectors of tests/cases/tokenizer and tests/cases/chat with the reference libraries.

usage: tools/make_text_vectors.py            writes the files
       tools/make_text_vectors.py --check    makes them again and compares
       tools/make_text_vectors.py --show N   prints the strings of chunk N of o200k_random.json
Needs the packages in tools/text_oracles.txt.
"""

import json
import sys

from text_oracles import (
    PATTERN,
    ROOT,
    IdHash,
    Random,
    byte_level,
    dump,
    harmony,
    hugging_face,
    tiktoken_encoding,
)

CASES = ROOT / "tests/cases"

NAMED_TEXTS = [
    "",
    "hello world",
    "Hello, World!  It's 12345 o'clock\u2026",
    "I'LL we'Ve THEY'RE don't",
    "  leading\n\n\n  and\ttabs \r\n",
    "// path/to/file.cpp\n\n",
    "日本語のテスト、漢字123４５",
    "Привет ΑΒΓ ǅungla ªº",
    "👨\u200d👩\u200d👧\u200d👦 🇺🇸 💖",
    "na\u00efve nai\u0308ve",
    "x=1;y=22;z=333;w=4444",
    "   ",
    "\n",
    "\r\n\r\n",
    "a\u0085b\u00a0c\u2028d",
    "camelCaseHTTPServer",
    "नमस्ते सलाम",
    "\u0301abc",
    "a" * 25,
    "ﬁ ﷺ Ⅷ ²",
    "'s 'S ''s",
    "<|start|>",
    "<|reserved_200500|>",
    "\U00031861're \U000105c0've",  # letters of Unicode 15 and 16
    "it'\u017f a long \u017f",  # a letter that only case folding makes an s
    "a\u180eb \u200bc\ufeffd\u001ce",  # look like blanks and are none
]

FRAGMENTS = (
    ["'s", "'S", "'LL", "'ll", "'\u017f", "'re", "'VE", "'d", "'t", "'m", "'", "''"]
    + ["<|start|>", "<|end|>", "<|endoftext|>", "<|reserved_200500|>", "<|", "|>"]
    + ["\r\n", "\n\n", "\n", "  ", "   ", "\t", " ", "\u00a0", "\u3000", "\u2028", "\u0085"]
    + ["\u180e", "\u200b", "\ufeff", "\u0000", "\u001c", "\u001f", "\u007f"]
    + ["/", "//", "...", "http://", '{"a":1}', "Hello", "WORLD", "camelCase", " the", " and"]
    + ["ǅ", "ﬁ", "ª", "ʰ", "日本", "漢", "한국", "नमस्ते", "é", "e\u0301", "ß", "ẞ", "İ", "ı"]
    + ["👨\u200d👩\u200d👧", "🇺🇸", "１２", "Ⅷ", "²", "1", "12", "123", "1234567", "\u212a"]
)

RANGES = [
    *[[0x00, 0x7F]] * 6,
    [0x80, 0x24F],
    [0x250, 0x3FF],
    [0x400, 0x52F],
    [0x5D0, 0x6FF],
    [0x900, 0xDFF],
    [0xE00, 0xFFF],
    [0x1000, 0x1FFF],
    [0x2000, 0x2FFF],
    [0x3000, 0x30FF],
    [0x4E00, 0x9FFF],
    [0xA000, 0xD7A3],
    [0xE000, 0xFFFF],
    [0x10000, 0x1FFFF],
    [0x1F300, 0x1FAFF],
    [0x20000, 0x323AF],
    [0x0, 0x10FFFF],
]


def ids_of(text: str) -> list[int]:
    ids = hugging_face().encode(text, add_special_tokens=False).ids
    assert ids == tiktoken_encoding().encode_ordinary(text), repr(text)
    return ids


def random_string(random: Random, fragments=FRAGMENTS, ranges=RANGES) -> str:
    """Written again in src/text/text_cases_internal.h; both must draw the same numbers in the same order."""
    pieces = []
    for _ in range(random.below(24)):
        kind = random.below(10)
        if kind < 5:
            fragment = random.choice(fragments)
            pieces.append(fragment * (1 if kind < 4 else 1 + random.below(8)))
        else:
            first, last = random.choice(ranges)
            for _ in range(1 + random.below(5)):
                code_point = first + random.below(last - first + 1)
                is_surrogate = 0xD800 <= code_point < 0xE000
                pieces.append("x" if is_surrogate else chr(code_point))
    return "".join(pieces)


STRINGS_PER_CHUNK = 1000


def chunk_of_strings(seed: int, size: int, fragments=FRAGMENTS, ranges=RANGES) -> list[str]:
    random = Random(seed)
    return [random_string(random, fragments, ranges) for _ in range(size)]


def random_strings() -> dict:
    vectors = {
        "what": "chunk i: strings drawn with seed i, and the hash of all their ids",
        "strings_per_chunk": STRINGS_PER_CHUNK,
        "fragments": FRAGMENTS,
        "ranges": RANGES,
        "hashes": [],
    }
    for seed in range(40):
        ids_hash = IdHash()
        for text in chunk_of_strings(seed, vectors["strings_per_chunk"]):
            ids_hash.add(ids_of(text))
        vectors["hashes"].append(ids_hash.hex())
    return vectors


TINY_CORPUS = [
    "The quick brown fox jumps over the lazy dog. It's 12345 o'clock, isn't it?",
    "Der Zug fährt um 7 Uhr; wir'll see, they've gone.  Two  blanks,\n\nnew lines.\n",
    "日本語の文章と漢字。日本の文化。 naïve café résumé 👍👍 x = x + 1; y == 2\n",
    "the them then there these they this those through",
] * 4


LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_PATTERN = LLAMA3_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}")

TEKKEN_PATTERN = PATTERN.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace(r"\p{N}{1,3}", r"\p{N}")

# For tokenizers that normalize: letters that have a composed form, and marks in any order.
MARK_FRAGMENTS = [
    *["e\u0301", "e\u0323\u0302", "a\u0302\u0323", "\u00c5", "\u212b", "o\u0308\u0304", "\u1e9b\u0323"],
    *["\u1100\u1161", "\uac00\u11a8", "\u1112\u1161\u11ab", "\u304b\u3099", "\u30cf\u309a"],
    *["\u0915\u093c", "\u0958", "\u0f71\u0f72\u0f74", "\u0fb2\u0f81", "\u2260", "=\u0338", "\u0344"],
    *["\U0001d15e", "\U0001d157\U0001d165", "\ufb1d", "\u05d9\u05b4", "\u0340", "\u037e", "\u2000"],
    *["\U00011935\U00011930", "\U000110a5\U000110ba", "a\u0898\u0301", "\u0301\u1ac1\u0323"],
    *["abc", " ", "\n", "caf\u00e9", "na\u00efve", "漢字", "\uf900", "x\u0345\u0301"],
]
MARK_RANGES = [
    [0x61, 0x7A],
    [0xC0, 0x17F],
    [0x300, 0x36F],
    [0x300, 0x36F],
    [0x591, 0x5C7],
    [0x610, 0x670],
    [0x8D0, 0x9FF],
    [0xB3C, 0xD4D],
    [0xF71, 0xFC6],
    [0x1AB0, 0x1AFF],
    [0x1DC0, 0x1DFF],
    [0x1E00, 0x1FFF],
    [0x20D0, 0x20F0],
    [0x1100, 0x11FF],
    [0xAC00, 0xD7A3],
    [0x3040, 0x30FF],
    [0xF900, 0xFB4E],
    [0x10D20, 0x11D97],
    [0x1D150, 0x1D1AD],
    [0x1E000, 0x1E8D6],
    [0x0, 0x10FFFF],
]

# Added tokens with every flag, their names as fragments, and what stands around them.
ADDED_NAMES = ["<r>", "<l>", "<b>", "word", "<s>", "<m>", "<e\u0301>", "<\u00e9>", "\u212b!", "  ", "<r><l>"]
ADDED_FRAGMENTS = [
    *ADDED_NAMES * 2,
    *["<e\u0301", "\u00c5!", "A\u030a!", "<end>", "words", "sword", "word_", "\u200dword", "1word"],
    *["\u24d0word", "\u2160word", "\u203fword", "(word)", "\u00a0", "\u3000", "\u180e", "\n", "\t"],
    *["   ", " ", "a", "b c", "\u0301", "\u0669word", "word\U0001f130", "word\u20dd", "é"],
]
ADDED_RANGES = [[0x20, 0x7E], [0xA0, 0x24F], [0x300, 0x36F], [0x2000, 0x2FFF], [0x1F100, 0x1F1FF]]


def flagged_tokens():
    from tokenizers import AddedToken

    return [
        AddedToken("<r>", rstrip=True, normalized=False),
        AddedToken("<l>", lstrip=True, normalized=True),
        AddedToken("<b>", lstrip=True, rstrip=True, normalized=False),
        AddedToken("word", single_word=True, normalized=True),
        AddedToken("<m>", special=True, lstrip=True, normalized=False),
        AddedToken("<s>", special=True, rstrip=True, normalized=True),
        AddedToken("<e\u0301>", normalized=False),
        AddedToken("<\u00e9>", normalized=True),
        AddedToken("\u212b!", normalized=True),
        AddedToken("  ", normalized=False),
        AddedToken("<r><l>", special=True, normalized=False),
    ]


def split_then_bytes(pattern: str):
    from tokenizers import Regex, pre_tokenizers

    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def steps(*before, use_regex: bool):
    """Splits one after the other, and ByteLevel at the end."""
    from tokenizers import Regex, pre_tokenizers

    def step(name: str):
        if name == "digits":
            return pre_tokenizers.Digits(individual_digits=True)
        if name == "numbers":
            return pre_tokenizers.Digits(individual_digits=False)
        return pre_tokenizers.Split(Regex(name) if "\\" in name or "[" in name else name, "isolated")

    last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    return pre_tokenizers.Sequence([*map(step, before), last])


DEEPSEEK_CODER_STEPS = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+", "digits"]


def tiny_tokenizer(
    pattern: str | None,
    ignore_merges: bool,
    normalizer=None,
    fragments=FRAGMENTS,
    ranges=RANGES,
    added=None,
    pre_tokenizer=None,
    missing_bytes=(),
) -> dict:
    """A small tokenizer.json of one shape, with the ids that tokenizers gives for some texts.

    Without a pattern or a pre_tokenizer it splits as GPT-2 does. Of the single bytes, those that
    are missing have no token.
    """
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    elif pattern is None:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    else:
        tokenizer.pre_tokenizer = split_then_bytes(pattern)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        initial_alphabet=sorted(
            {*pre_tokenizers.ByteLevel.alphabet()} - {byte_level(bytes([b])) for b in missing_bytes}
        ),
        show_progress=False,
        special_tokens=["<|end|>"],
    )
    tokenizer.train_from_iterator(TINY_CORPUS, trainer)
    tokenizer.add_tokens(added or [AddedToken("<think>", special=False, normalized=False)])
    random = Random(7)
    texts = [*TINY_CORPUS[:4], *NAMED_TEXTS[:8]]
    texts += [random_string(random, fragments, ranges) for _ in range(40)]
    texts += ["a<|end|>b<think>c<|end", "<think><think>", "<|end|>"]

    def ids_of_both_ways(text: str) -> tuple[list[int], list[int]]:
        tokenizer.encode_special_tokens = True
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = False
        return ids, tokenizer.encode(text, add_special_tokens=False).ids

    cases = []
    for text in texts:
        ids, ids_with_special = ids_of_both_ways(text)
        cases.append({"text": text, "ids": ids, "ids_with_special": ids_with_special})
    chunks = []
    for seed in range(100, 103):
        ids_hash = IdHash()
        for text in chunk_of_strings(seed, STRINGS_PER_CHUNK, fragments, ranges):
            for ids in ids_of_both_ways(text):
                ids_hash.add(ids)
        chunks.append({"seed": seed, "hash": ids_hash.hex()})
    return {
        "what": "cases, and chunks of random strings: the hash of each string's ids, both ways",
        "tokenizer": json.loads(tokenizer.to_str()),
        "cases": cases,
        "strings_per_chunk": STRINGS_PER_CHUNK,
        "fragments": fragments,
        "ranges": ranges,
        "chunks": chunks,
    }


def qwen_normalizer():
    from tokenizers.normalizers import NFC

    return NFC()


def in_old_merge_form(vectors: dict) -> dict:
    model = vectors["tokenizer"]["model"]
    model["merges"] = [" ".join(pair) for pair in model["merges"]]
    return vectors


def make_all() -> dict[str, str]:
    from chat_tool_vectors import tool_prompt_vectors
    from chat_vectors import prompt_vectors, stream_vectors

    def lines(items) -> str:
        return "".join(dump(item) + "\n" for item in items)

    return {
        "tokenizer/o200k_named.jsonl": lines(
            {"text": text, "ids": ids_of(text)} for text in NAMED_TEXTS
        ),
        "tokenizer/o200k_random.json": dump(random_strings()) + "\n",
        "tokenizer/tiny_split.json": dump(tiny_tokenizer(PATTERN, True)) + "\n",
        "tokenizer/tiny_gpt2.json": dump(in_old_merge_form(tiny_tokenizer(None, False))) + "\n",
        "tokenizer/tiny_llama3.json": dump(tiny_tokenizer(LLAMA3_PATTERN, True)) + "\n",
        "tokenizer/tiny_qwen.json": dump(
            tiny_tokenizer(QWEN_PATTERN, False, qwen_normalizer(), MARK_FRAGMENTS, MARK_RANGES)
        )
        + "\n",
        "tokenizer/tiny_added.json": dump(
            tiny_tokenizer(
                QWEN_PATTERN, False, qwen_normalizer(), ADDED_FRAGMENTS, ADDED_RANGES, flagged_tokens()
            )
        )
        + "\n",
        "tokenizer/tiny_smollm.json": dump(
            tiny_tokenizer(
                None,
                False,
                pre_tokenizer=steps("digits", use_regex=True),
                missing_bytes=[0x04, 0x1F, 0x7F, *b"qQ#/", 0x88, 0xC0, 0xCC, 0xE2, *range(0xF1, 0x100)],
            )
        )
        + "\n",
        "tokenizer/tiny_deepseek.json": dump(
            tiny_tokenizer(
                None, False, pre_tokenizer=steps(*DEEPSEEK_CODER_STEPS, use_regex=False)
            )
        )
        + "\n",
        "tokenizer/tiny_tekken.json": dump(
            tiny_tokenizer(TEKKEN_PATTERN, True, missing_bytes=[0x04, *b"qZ", 0xCC])
        )
        + "\n",
        "tokenizer/tiny_string_split.json": dump(
            tiny_tokenizer(
                None, False, pre_tokenizer=steps("numbers", "//", "|>", "é", use_regex=True)
            )
        )
        + "\n",
        "chat/harmony_prompts.jsonl": lines(prompt_vectors(harmony())),
        "chat/harmony_tool_prompts.jsonl": lines(tool_prompt_vectors(harmony())),
        "chat/harmony_streams.jsonl": lines(stream_vectors(harmony())),
    }


def main() -> None:
    if sys.argv[1:2] == ["--show"] and len(sys.argv) == 3:
        for text in chunk_of_strings(int(sys.argv[2]), random_strings()["strings_per_chunk"]):
            print(dump({"text": text, "ids": ids_of(text)}))
        return
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    wrong = []
    for name, text in make_all().items():
        path = CASES / name
        if sys.argv[1:] == ["--check"]:
            if not path.exists() or path.read_text() != text:
                wrong.append(name)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"{path.relative_to(ROOT)}: {len(text)} bytes")
    if wrong:
        sys.exit("not what the libraries give: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
