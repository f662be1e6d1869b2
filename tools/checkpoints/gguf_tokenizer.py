"""The tokenizer of gpt-oss as GGUF files have it, without its list of merges: that list follows from
the tokens, and Rapt knows the vocabulary."""

import lzma
from pathlib import Path

_PACKED = Path(__file__).resolve().parents[2] / "src/text/data/o200k_base.bin.xz"
_NUM_TOKENS, VOCABULARY = 199_998, 201_088

_SPECIAL = {
    199_998: "startoftext",
    199_999: "endoftext",
    200_002: "return",
    200_003: "constrain",
    200_005: "channel",
    200_006: "start",
    200_007: "end",
    200_008: "message",
    200_012: "call",
    200_018: "endofprompt",
}
_NORMAL, _CONTROL, _UNUSED = 1, 3, 5


def _alphabet() -> list[str]:
    """The character for each byte: itself where it is printable in Latin-1, else U+0100 and up."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(b) if b in printable else chr(0x100 + others.index(b)) for b in range(256)]


def o200k_harmony() -> dict[str, object]:
    """The metadata values."""
    packed = lzma.decompress(_PACKED.read_bytes())
    alphabet = _alphabet()
    tokens, position = [], _NUM_TOKENS
    for length in packed[:_NUM_TOKENS]:
        tokens.append("".join([alphabet[byte] for byte in packed[position : position + length]]))
        position += length
    types = [_NORMAL] * _NUM_TOKENS
    for token in range(_NUM_TOKENS, VOCABULARY):
        is_control = token <= max(_SPECIAL)
        name = _SPECIAL.get(token, f"reserved_{token}")
        tokens.append(f"<|{name}|>" if is_control else f"[PAD{token}]")
        types.append(_CONTROL if is_control else _UNUSED)
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-4o",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.bos_token_id": 199_998,
        "tokenizer.ggml.eos_token_id": 200_002,
        "tokenizer.ggml.padding_token_id": 199_999,
        "tokenizer.ggml.add_bos_token": False,
    }
