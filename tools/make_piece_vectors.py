#!/usr/bin/env python3
"""Makes tests/cases/tokenizer/pieces_*.json: tokenizers of SentencePiece's kind, with the ids that
the libraries give.

usage: tools/make_piece_vectors.py            writes the files
       tools/make_piece_vectors.py --check    makes them again and compares
Needs the packages in tools/text_oracles.txt.
"""

import io
import json
import sys

import sentencepiece
from make_text_vectors import FRAGMENTS, RANGES, STRINGS_PER_CHUNK, TINY_CORPUS, chunk_of_strings
from text_oracles import ROOT, IdHash, dump

CASES = ROOT / "tests/cases/tokenizer"

NAMES = ["<unk>", "<s>", "</s>", "<think>", "<0x41>", "<0x", "\u2581", "\u2581\u2581", " the", "日本の"]
PIECE_FRAGMENTS = [
    *NAMES * 2,
    *[text for text in FRAGMENTS if not text.startswith("<|")],
    *["the", "then", "there", "quick", "     ", " ", " ", " x", "x "],
]
TEXTS = [
    "",
    " ",
    "  ",
    "a",
    " a",
    "a ",
    "Hello world",
    "  two  blanks  each  ",
    "\u2581mark",
    "a<s>b</s> c<unk>d",
    "<think> deep <think>",
    "日本語の文章と漢字",
    "\U0001f44d\U0001f44d né \x00\x01",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    *TINY_CORPUS[:4],
]
# As SentencePiece and GGUF number them.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def train(**options) -> sentencepiece.SentencePieceProcessor:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TINY_CORPUS * 4),
        model_writer=model,
        model_type="bpe",
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        max_sentence_length=10_000,
        num_threads=1,
        minloglevel=2,
        **options,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def type_of(model: sentencepiece.SentencePieceProcessor, idx: int) -> int:
    for is_it, kind in [
        (model.is_unknown, UNKNOWN),
        (model.is_control, CONTROL),
        (model.is_byte, BYTE),
        (model.is_unused, UNUSED),
    ]:
        if is_it(idx):
            return kind
    return NORMAL


def read_varint(data: bytes, pos: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[pos] & 0x7F) << shift
        shift += 7
        pos += 1
        if data[pos - 1] < 0x80:
            return value, pos


def varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def with_unused(model: sentencepiece.SentencePieceProcessor, unused: set[int]):
    """The same model with the type of some pieces changed, in its protocol buffer."""
    data, out, pos, idx = model.serialized_model_proto(), b"", 0, 0
    while pos < len(data):
        tag, pos = read_varint(data, pos)
        size, pos = read_varint(data, pos)
        body = data[pos : pos + size]
        pos += size
        if tag == 0x0A:  # a piece; its type is field 3, of which the last one counts
            body += bytes([0x18, UNUSED]) if idx in unused else b""
            idx += 1
        out += varint(tag) + varint(len(body)) + body
    return sentencepiece.SentencePieceProcessor(model_proto=out)


def strings_of(seed: int) -> list[str]:
    return chunk_of_strings(seed, STRINGS_PER_CHUNK, PIECE_FRAGMENTS, RANGES)


def vectors(what: str, ids_of, num_chunks: int = 2) -> dict:
    """`ids_of` gives lists of ids for a text; the cases name them all, the chunks hash them all."""
    texts = [*TEXTS, *strings_of(7)[:40]]
    chunks = []
    for seed in range(200, 200 + num_chunks):
        ids_hash = IdHash()
        for text in strings_of(seed):
            for ids in ids_of(text).values():
                ids_hash.add(ids)
        chunks.append({"seed": seed, "hash": ids_hash.hex()})
    return {
        "what": what,
        "cases": [{"text": text, **ids_of(text)} for text in texts],
        "strings_per_chunk": STRINGS_PER_CHUNK,
        "fragments": PIECE_FRAGMENTS,
        "ranges": RANGES,
        "chunks": chunks,
    }


def by_score(what: str, add_prefix: bool, unused_share: int = 0, **options) -> dict:
    """A model of SentencePiece's own, as a GGUF file has it."""
    model = train(add_dummy_prefix=add_prefix, **options)
    pieces = [model.id_to_piece(idx) for idx in range(len(model))]
    if unused_share:
        unused = {i for i in range(0, len(pieces), unused_share) if type_of(model, i) == NORMAL}
        model = with_unused(model, unused)
    made = vectors(what, lambda text: {"ids": model.encode(text)})
    return {
        **made,
        "add_space_prefix": add_prefix,
        "tokens": pieces,
        "scores": [model.get_score(idx) for idx in range(len(model))],
        "token_types": [type_of(model, idx) for idx in range(len(model))],
    }


def merges_of(model: sentencepiece.SentencePieceProcessor) -> list[tuple[str, str]]:
    """The pairs that make pieces, as transformers lists them."""
    vocab = {model.id_to_piece(idx): idx for idx in range(len(model))}
    merges = []
    for piece, idx in vocab.items():
        pairs = []
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in vocab and right in vocab:
                pairs.append((left, right, model.get_score(idx)))
        merges += sorted(pairs, key=lambda pair: (vocab[pair[0]], vocab[pair[1]]))
    merges.sort(key=lambda pair: pair[2], reverse=True)
    return [(left, right) for left, right, _ in merges]


def by_list(what: str, normalizer, pre_tokenizer, byte_fallback: bool, **options) -> dict:
    """The same as a tokenizer.json."""
    from tokenizers import AddedToken, Tokenizer, models, processors

    model = train(byte_fallback=byte_fallback, **options)
    vocab = {model.id_to_piece(idx): idx for idx in range(len(model))}
    bpe = models.BPE(
        vocab=vocab,
        merges=merges_of(model),
        unk_token="<unk>",
        fuse_unk=True,
        byte_fallback=byte_fallback,
    )
    tokenizer = Tokenizer(bpe)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.add_special_tokens(
        [AddedToken(name, normalized=False, special=True) for name in ["<unk>", "<s>", "</s>"]]
    )
    tokenizer.add_tokens([AddedToken("<think>", normalized=False, special=False)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
    )

    def ids_of(text: str) -> dict:
        tokenizer.encode_special_tokens = True
        plain = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = False
        special = tokenizer.encode(text, add_special_tokens=False).ids
        framed = tokenizer.encode(text, add_special_tokens=True).ids
        assert framed == [1, *special]
        return {"ids": plain, "ids_with_special": special}

    made = vectors(what, ids_of)
    return {**made, "tokenizer": json.loads(tokenizer.to_str())}


def make_all() -> dict[str, dict]:
    from tokenizers import normalizers, pre_tokenizers

    mark = "\u2581"
    prepend = normalizers.Sequence([normalizers.Prepend(mark), normalizers.Replace(" ", mark)])
    bytes_too = {"byte_fallback": True, "vocab_size": 420, "character_coverage": 0.98}
    without = {"vocab_size": 150, "character_coverage": 0.98}
    return {
        "pieces_scores.json": by_score("byte fallback, blank before the text", True, **bytes_too),
        "pieces_no_prefix.json": by_score("no blank before the text", False, **bytes_too),
        "pieces_unused.json": by_score("a fifth of the pieces unused", True, 5, **bytes_too),
        "pieces_unknown.json": by_score("no bytes: unknown text is <unk>", True, **without),
        "pieces_across.json": by_score(
            "pieces that reach over blanks", True, split_by_whitespace=False, **bytes_too
        ),
        "pieces_llama2.json": by_list("Prepend and Replace", prepend, None, **bytes_too),
        "pieces_first.json": by_list(
            "Metaspace, at the begin of the text only",
            None,
            pre_tokenizers.Metaspace(mark, prepend_scheme="first", split=False),
            **bytes_too,
        ),
        "pieces_split.json": by_list(
            "Metaspace that splits",
            None,
            pre_tokenizers.Metaspace(mark, prepend_scheme="always", split=True),
            **{**bytes_too, "split_by_whitespace": False},
        ),
        "pieces_gemma.json": by_list(
            "Replace, and a split that splits nothing",
            normalizers.Replace(" ", mark),
            pre_tokenizers.Split(" ", "merged_with_previous"),
            **bytes_too,
        ),
        "pieces_list_unknown.json": by_list(
            "no bytes", prepend, None, byte_fallback=False, **without
        ),
    }


def main() -> None:
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    wrong = []
    for name, made in make_all().items():
        path, text = CASES / name, dump(made) + "\n"
        if sys.argv[1:] == ["--check"]:
            if not path.exists() or path.read_text() != text:
                wrong.append(name)
        else:
            path.write_text(text)
            print(f"{path.relative_to(ROOT)}: {len(text)} bytes")
    if wrong:
        sys.exit("not what the libraries give: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
