"""`rapt harmony render` and `rapt harmony parse`, driven through pipes as another program would.

What OpenAI's library makes of the same lines is stored as hashes in tests/cases/chat
(tools/make_harmony_vectors.py); the lines themselves are drawn again from their seeds.
RAPT_BINARY names the binary under test (default: build/release/rapt).
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import harmony_cases  # noqa: E402

HASHES = json.loads((ROOT / "tests/cases/chat/harmony_hashes.json").read_text())
FIELDS = {"role", "name", "channel", "recipient", "content_type", "content"}


@pytest.fixture(scope="session")
def binary() -> Path:
    path = Path(os.environ.get("RAPT_BINARY", ROOT / "build" / "release" / "rapt"))
    if not path.exists():
        pytest.fail(f"{path} is not there: build it, or name another with RAPT_BINARY")
    return path


class Lines:
    """A running command. An answer is read before the next line is sent."""

    def __init__(self, binary: Path, *arguments: str):
        self.process = subprocess.Popen(
            [binary, "harmony", *arguments, "--stdin-jsonl"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def ask_raw(self, line: str):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, value):
        return self.ask_raw(json.dumps(value))

    def finish(self) -> int:
        self.process.stdin.close()
        assert self.process.stdout.read() == ""
        return self.process.wait(timeout=60)


@pytest.fixture(scope="module")
def renderer(binary: Path) -> Iterator[Lines]:
    lines = Lines(binary, "render")
    yield lines
    assert lines.finish() == 0


@pytest.fixture(scope="module")
def strict_parser(binary: Path) -> Iterator[Lines]:
    lines = Lines(binary, "parse", "--strict")
    yield lines
    assert lines.finish() == 0


@pytest.fixture(scope="module")
def parser(binary: Path) -> Iterator[Lines]:
    lines = Lines(binary, "parse")
    yield lines
    assert lines.finish() == 0


def test_enough_cases_are_stored() -> None:
    assert len(HASHES["render"]) == harmony_cases.NUM_CONVERSATION_CHUNKS
    assert len(HASHES["parse"]) == harmony_cases.NUM_STREAM_CHUNKS
    assert len(HASHES["render"]) * harmony_cases.CASES_PER_CHUNK >= 2_000
    assert len(HASHES["parse"]) * harmony_cases.CASES_PER_CHUNK >= 5_000


@pytest.mark.parametrize("chunk", range(harmony_cases.NUM_CONVERSATION_CHUNKS))
def test_render_gives_the_librarys_ids(renderer: Lines, chunk: int) -> None:
    answers = [renderer.ask(line) for line in harmony_cases.conversation_chunk(chunk)]
    assert harmony_cases.answer_hash(answers) == HASHES["render"][chunk], (
        f"tools/make_harmony_vectors.py --show render {chunk} prints what is expected"
    )


@pytest.mark.parametrize("chunk", range(harmony_cases.NUM_STREAM_CHUNKS))
def test_strict_parse_gives_the_librarys_messages(strict_parser: Lines, chunk: int) -> None:
    lines = harmony_cases.stream_chunk(chunk, HASHES["words"])
    answers = [strict_parser.ask(line) for line in lines]
    assert harmony_cases.answer_hash(answers) == HASHES["parse"][chunk], (
        f"tools/make_harmony_vectors.py --show parse {chunk} prints what is expected"
    )


@pytest.mark.parametrize("chunk", range(0, harmony_cases.NUM_STREAM_CHUNKS, 4))
def test_lenient_parse_never_fails(parser: Lines, chunk: int) -> None:
    for line in harmony_cases.stream_chunk(chunk, HASHES["words"]):
        answer = parser.ask({**line, "tools": ["get_weather"]})
        assert isinstance(answer, list), (line, answer)
        for message in answer:
            assert {"role", "content"} <= set(message) <= FIELDS, (line, message)
            assert message["role"] in ("system", "developer", "user", "assistant", "tool")


def test_what_was_rendered_parses_back(renderer: Lines, strict_parser: Lines) -> None:
    messages = [
        {"role": "assistant", "channel": "analysis", "content": "I need the weather."},
        {
            "role": "assistant",
            "channel": "commentary",
            "recipient": "functions.get_weather",
            "content_type": "<|constrain|>json",
            "content": '{"location": "Tokyo"}',
        },
        {
            "role": "tool",
            "name": "functions.get_weather",
            "channel": "commentary",
            "recipient": "assistant",
            "content": '{"sunny": true}',
        },
        {"role": "assistant", "channel": "final", "content": "It is sunny. 👍🏽"},
    ]
    render = {"mode": "conversation", "auto_drop_analysis": False}
    ids = renderer.ask({"messages": messages, "render": render})
    assert strict_parser.ask({"tokens": ids, "role": None}) == messages


def test_a_refused_line_is_answered_and_the_next_one_too(binary: Path) -> None:
    lines = Lines(binary, "render")
    for refused in ["", "{", '{"messages": 3}', "[1]", '{"messages": []} {}', "\\u0000"]:
        answer = lines.ask_raw(refused)
        assert list(answer) == ["error"], refused
        assert answer["error"], refused
    assert lines.ask({"messages": []}) == [200006, 173781]
    assert lines.finish() == 0


def test_ids_outside_the_vocabulary_are_replaced(parser: Lines) -> None:
    for strange in [-1, 201089, 2**31, 2**63, 2**64 - 1]:
        assert parser.ask([200008, 64, strange, 65]) == [
            {"role": "assistant", "content": "a\ufffdb"}
        ]


def test_a_folder_with_only_a_tokenizer_will_do(binary: Path, tmp_path: Path) -> None:
    tokenizer = json.loads((ROOT / "tests/cases/tokenizer/tiny_split.json").read_text())["tokenizer"]
    names = ["start", "message", "channel", "constrain", "call", "return", "endoftext"]
    first = 1000
    for number, name in enumerate(names):
        token = {"id": first + number, "content": f"<|{name}|>", "special": True}
        tokenizer["added_tokens"].append({**tokenizer["added_tokens"][0], **token})
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    lines = Lines(binary, "render", "--tokenizer", str(tmp_path))
    message = {"role": "user", "content": "the fox"}
    ids = lines.ask({"messages": [message]})
    assert lines.finish() == 0
    assert ids[0] == first and ids.count(first) == 2 and ids.count(first + 1) == 1

    lines = Lines(binary, "parse", "--strict", "--tokenizer", str(tmp_path))
    (first_message,) = lines.ask({"tokens": ids[: ids.index(first, 1)], "role": None})
    assert first_message == message
    assert lines.finish() == 0


def test_a_tokenizer_that_is_not_there_is_an_error(binary: Path, tmp_path: Path) -> None:
    command = [binary, "harmony", "render", "--stdin-jsonl", "--tokenizer", tmp_path / "none"]
    result = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "none" in result.stderr
