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


def random_string(random: Random) -> str:
    """Written again in src/text/text_cases_internal.h; both must draw the same numbers in the same order."""
    pieces = []
    for _ in range(random.below(24)):
        kind = random.below(10)
        if kind < 5:
            fragment = random.choice(FRAGMENTS)
            pieces.append(fragment * (1 if kind < 4 else 1 + random.below(8)))
        else:
            first, last = random.choice(RANGES)
            for _ in range(1 + random.below(5)):
                code_point = first + random.below(last - first + 1)
                is_surrogate = 0xD800 <= code_point < 0xE000
                pieces.append("x" if is_surrogate else chr(code_point))
    return "".join(pieces)


def chunk_of_strings(seed: int, size: int) -> list[str]:
    random = Random(seed)
    return [random_string(random) for _ in range(size)]


def random_strings() -> dict:
    vectors = {
        "what": "chunk i: strings drawn with seed i, and the hash of all their ids",
        "strings_per_chunk": 1000,
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


def tiny_tokenizer(split_by_gpt2: bool, ignore_merges: bool) -> dict:
    """A small tokenizer.json of one shape, with the ids that tokenizers gives for some texts."""
    from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if split_by_gpt2:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        special_tokens=["<|end|>"],
    )
    tokenizer.train_from_iterator(TINY_CORPUS, trainer)
    tokenizer.add_tokens([AddedToken("<think>", special=False, normalized=False)])
    random = Random(7)
    texts = [*TINY_CORPUS[:4], *NAMED_TEXTS[:8], *(random_string(random) for _ in range(40))]
    texts += ["a<|end|>b<think>c<|end", "<think><think>", "<|end|>"]
    cases = []
    for text in texts:
        tokenizer.encode_special_tokens = True
        case = {"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids}
        tokenizer.encode_special_tokens = False
        case["ids_with_special"] = tokenizer.encode(text, add_special_tokens=False).ids
        cases.append(case)
    return {"tokenizer": json.loads(tokenizer.to_str()), "cases": cases}


def in_old_merge_form(vectors: dict) -> dict:
    model = vectors["tokenizer"]["model"]
    model["merges"] = [" ".join(pair) for pair in model["merges"]]
    return vectors


def make_all() -> dict[str, str]:
    from chat_vectors import prompt_vectors, stream_vectors

    def lines(items) -> str:
        return "".join(dump(item) + "\n" for item in items)

    return {
        "tokenizer/o200k_named.jsonl": lines(
            {"text": text, "ids": ids_of(text)} for text in NAMED_TEXTS
        ),
        "tokenizer/o200k_random.json": dump(random_strings()) + "\n",
        "tokenizer/tiny_split.json": dump(tiny_tokenizer(False, True)) + "\n",
        "tokenizer/tiny_gpt2.json": dump(in_old_merge_form(tiny_tokenizer(True, False))) + "\n",
        "chat/harmony_prompts.jsonl": lines(prompt_vectors(harmony())),
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
