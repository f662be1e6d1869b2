"""`rapt tokenize` and `rapt detokenize`, driven through pipes as another program would.

What Hugging Face's tokenizers (and tiktoken) make of the same strings is stored as hashes in
tests/cases/tokenizer/o200k_strings.json (tools/make_tokenizer_vectors.py); the strings are drawn
again from their seeds. RAPT_BINARY names the binary under test (default: build/release/rapt).
"""

import json
import lzma
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import tokenizer_cases  # noqa: E402

CASES = ROOT / "tests/cases/tokenizer"
VECTORS = json.loads((CASES / "o200k_strings.json").read_text())
NUM_IDS = 201_088
FIRST_SPECIAL = 199_998


@pytest.fixture(scope="session")
def binary() -> Path:
    path = Path(os.environ.get("RAPT_BINARY", ROOT / "build" / "release" / "rapt"))
    if not path.exists():
        pytest.fail(f"{path} is not there: build it, or name another with RAPT_BINARY")
    return path


@pytest.fixture(scope="module")
def strings() -> list[str]:
    return list(tokenizer_cases.all_strings())


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory) -> Path:
    """A folder that holds nothing but a small tokenizer.json."""
    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = json.loads((CASES / "tiny_qwen.json").read_text())["tokenizer"]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


def run(binary: Path, *arguments: str, lines=None, env=None) -> subprocess.CompletedProcess:
    text = None if lines is None else "".join(line + "\n" for line in lines)
    return subprocess.run(
        [binary, *arguments],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        env=env,
    )


def answers(binary: Path, *arguments: str, lines) -> list[str]:
    """The answer lines of a command that must come to a good end."""
    process = run(binary, *arguments, "--stdin-jsonl", lines=lines)
    assert process.returncode == 0, process.stderr
    # str.splitlines() would also split at characters that JSON strings may hold.
    return process.stdout.removesuffix("\n").split("\n")


def first_difference(hashes: list[str], expected: list[str]) -> str:
    for chunk, (ours, theirs) in enumerate(zip(hashes, expected, strict=True)):
        if ours != theirs:
            return f"chunk {chunk} differs: tools/make_tokenizer_vectors.py --show {chunk} prints it"
    return "none"


def test_cases_hold_every_code_point_and_enough_strings(strings):
    assert len(strings) == VECTORS["num_strings"] >= 200_000
    code_points = set()
    for text in strings:
        code_points.update(text)
    assert len(code_points) == 0x110000 - 0x800


def test_text_becomes_the_ids_of_the_reference_and_back(binary, strings):
    lines = answers(binary, "tokenize", "o200k_harmony", lines=map(json.dumps, strings))
    assert first_difference(tokenizer_cases.hash_chunks(lines), VECTORS["plain"]) == "none"
    texts = answers(binary, "detokenize", "o200k_harmony", lines=lines)
    assert len(texts) == len(strings)
    for text, expected in zip(texts, strings, strict=True):
        assert json.loads(text) == expected


def test_special_tokens_come_from_text_only_when_allowed(binary, strings):
    lines = answers(
        binary, "tokenize", "o200k_harmony", "--allow-special", lines=map(json.dumps, strings)
    )
    assert first_difference(tokenizer_cases.hash_chunks(lines), VECTORS["with_special"]) == "none"
    plain = run(binary, "tokenize", "o200k_harmony", "a<|start|>")
    assert json.loads(plain.stdout) == [64, 27, 91, 5236, 91, 29]
    allowed = run(binary, "tokenize", "o200k_harmony", "a<|start|>", "--allow-special")
    assert json.loads(allowed.stdout) == [64, 200006]


def test_every_id_has_its_text(binary):
    packed = (ROOT / "src/text/data/o200k_base.bin.xz").read_bytes()
    data = lzma.decompress(packed)
    expected, begin = [], FIRST_SPECIAL
    for length in data[:FIRST_SPECIAL]:
        expected.append(data[begin : begin + length].decode("utf-8", "replace"))
        begin += length
    names = {
        199998: "<|startoftext|>",
        199999: "<|endoftext|>",
        200002: "<|return|>",
        200003: "<|constrain|>",
        200005: "<|channel|>",
        200006: "<|start|>",
        200007: "<|end|>",
        200008: "<|message|>",
        200012: "<|call|>",
        200018: "<|endofprompt|>",
    }
    expected += [names.get(i, f"<|reserved_{i}|>") for i in range(FIRST_SPECIAL, NUM_IDS)]
    lines = answers(binary, "detokenize", "o200k_harmony", lines=[f"[{i}]" for i in range(NUM_IDS)])
    assert [json.loads(line) for line in lines] == expected


def test_a_refused_line_is_answered_and_the_next_one_too(binary):
    lines = ['"a"', "7", "{", "", '"\\ud800"', "[" * 200, '"b"']
    found = [json.loads(line) for line in answers(binary, "tokenize", "o200k_harmony", lines=lines)]
    assert found[0] == [64] and found[-1] == [65]
    assert all(list(answer) == ["error"] and answer["error"] for answer in found[1:-1])
    lines = ["[64]", f"[{NUM_IDS}]", "[-1]", "[1.5]", '["a"]', "64", "[1e3]", "[]", "[9552]"]
    found = [
        json.loads(line) for line in answers(binary, "detokenize", "o200k_harmony", lines=lines)
    ]
    assert found[0] == "a" and found[-2:] == ["", " \ufffd"]
    assert all(list(answer) == ["error"] and answer["error"] for answer in found[1:-2])


def test_each_answer_comes_before_the_next_line_is_sent(binary):
    with subprocess.Popen(
        [binary, "tokenize", "o200k_harmony", "--stdin-jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        for text, ids in (("a", [64]), ("b", [65])):
            process.stdin.write(json.dumps(text) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == ids
        process.stdin.close()
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("character", ["x", " ", "\n", "7", "日", "!", "\u0301", "😀"])
def test_a_million_equal_characters_are_no_trouble(binary, character):
    text = character * 1_000_000
    (ids,) = answers(binary, "tokenize", "o200k_harmony", lines=[json.dumps(text)])
    (back,) = answers(binary, "detokenize", "o200k_harmony", lines=[ids])
    assert json.loads(back) == text


def test_a_folder_needs_nothing_but_its_tokenizer(binary, tiny_folder):
    cases = json.loads((CASES / "tiny_qwen.json").read_text())["cases"]
    lines = answers(
        binary, "tokenize", str(tiny_folder), lines=[json.dumps(case["text"]) for case in cases]
    )
    assert [json.loads(line) for line in lines] == [case["ids"] for case in cases]
    named = run(binary, "tokenize", str(tiny_folder / "tokenizer.json"), cases[0]["text"])
    assert json.loads(named.stdout) == cases[0]["ids"]


def test_a_blank_put_before_a_text_is_taken_away_again(binary, tmp_path):
    vectors = json.loads((CASES / "pieces_llama2.json").read_text())
    (tmp_path / "tokenizer.json").write_text(json.dumps(vectors["tokenizer"]))
    cases = [case for case in vectors["cases"] if "<think>" not in case["text"]]
    lines = answers(
        binary, "tokenize", str(tmp_path), lines=[json.dumps(case["text"]) for case in cases]
    )
    assert [json.loads(line) for line in lines] == [case["ids"] for case in cases]
    texts = answers(binary, "detokenize", str(tmp_path), lines=lines)
    expected = [case["text"].replace("\u2581", " ") for case in cases]
    assert [json.loads(text) for text in texts] == expected


def gguf_string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_bytes(values: dict[str, tuple[int, bytes]]) -> bytes:
    """A GGUF file with these metadata (type and bytes by key) and one tensor of one number."""
    out = b"GGUF" + struct.pack("<IQQ", 3, 1, len(values))
    for key, (kind, data) in values.items():
        out += gguf_string(key) + struct.pack("<I", kind) + data
    out += gguf_string("t") + struct.pack("<IQIQ", 1, 1, 0, 0)
    return out + bytes(-len(out) % 32) + struct.pack("<f", 1)


def test_a_gguf_file_brings_its_sentencepiece_tokenizer(binary, tmp_path):
    vectors = json.loads((CASES / "pieces_no_prefix.json").read_text())
    count = len(vectors["tokens"])
    text, array, boolean, int32, float32 = 8, 9, 7, 5, 6
    key = "tokenizer.ggml."

    def array_of(kind: int, data: bytes) -> tuple[int, bytes]:
        return array, struct.pack("<IQ", kind, count) + data

    path = tmp_path / "m.gguf"
    path.write_bytes(
        gguf_bytes(
            {
                key + "model": (text, gguf_string("llama")),
                key + "tokens": array_of(text, b"".join(map(gguf_string, vectors["tokens"]))),
                key + "scores": array_of(float32, struct.pack(f"<{count}f", *vectors["scores"])),
                key + "token_type": array_of(
                    int32, struct.pack(f"<{count}i", *vectors["token_types"])
                ),
                key + "add_space_prefix": (boolean, b"\0"),
            }
        )
    )
    cases = vectors["cases"]
    lines = answers(
        binary, "tokenize", str(path), lines=[json.dumps(case["text"]) for case in cases]
    )
    assert [json.loads(line) for line in lines] == [case["ids"] for case in cases]


def test_a_gguf_file_that_cannot_be_read_says_why(binary, tmp_path):
    big_endian = tmp_path / "big.gguf"
    big_endian.write_bytes(b"GGUF" + struct.pack(">IQQ", 3, 0, 0))
    part = tmp_path / "m-00001-of-00002.gguf"
    part.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
    for path, reason in ((big_endian, "big-endian"), (part, '"m-00002-of-00002.gguf" is missing')):
        process = run(binary, "tokenize", str(path), "a")
        assert process.returncode == 2
        assert reason in process.stderr and process.stderr.count("\n") == 1


def test_a_cached_model_needs_no_weights(binary, tiny_folder, tmp_path):
    snapshot = tmp_path / "models--some--model/snapshots/abc"
    snapshot.mkdir(parents=True)
    (snapshot / "tokenizer.json").write_text((tiny_folder / "tokenizer.json").read_text())
    env = {**os.environ, "HF_HUB_CACHE": str(tmp_path)}
    process = run(binary, "tokenize", "some/model", "a", env=env)
    assert process.returncode == 0, process.stderr
    assert process.stdout == run(binary, "tokenize", str(tiny_folder), "a").stdout


def test_what_names_no_tokenizer_is_an_error(binary, tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/tokenizer.json").write_text("{")
    (tmp_path / "empty").mkdir()
    for command in ("tokenize", "detokenize"):
        for model in ("no/such-model", tmp_path / "bad", tmp_path / "empty", tmp_path / "x"):
            process = run(binary, command, str(model), "--stdin-jsonl", lines=['"a"'])
            assert process.returncode == 2, (command, model)
            assert process.stderr.startswith("rapt: ") and process.stderr.count("\n") == 1
            assert process.stdout == ""
