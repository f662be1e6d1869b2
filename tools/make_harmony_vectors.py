#!/usr/bin/env python3
"""Makes tests/cases/chat/harmony_*_cases.* with OpenAI's own library.

usage: tools/make_harmony_vectors.py                     writes the files
       tools/make_harmony_vectors.py --check             makes them again and compares
       tools/make_harmony_vectors.py --show render|parse N  prints chunk N's lines and answers
Needs openai-harmony (tools/text_oracles.txt).
"""

import json
import sys

import harmony_cases
from text_oracles import ROOT, IdHash, dump, harmony

CASES = ROOT / "tests/cases/chat"
NUM_EXPLICIT_CHUNKS = 1  # whose lines and answers are stored whole, for the unit tests


def render(line: dict):
    """The ids, or {"error": ...}."""
    inner = harmony()._inner
    options = line.get("render") or {}
    text = json.dumps({key: value for key, value in line.items() if key != "render"})
    config = {"auto_drop_analysis": options.get("auto_drop_analysis", True)}
    try:
        match options.get("mode", "completion"):
            case "conversation":
                return inner.render_conversation(text, config)
            case "training":
                return inner.render_conversation_for_training(text, config)
        role = options.get("next_turn_role", "assistant")
        return inner.render_conversation_for_completion(text, role, config)
    except (ValueError, RuntimeError) as error:
        return {"error": str(error)}


def parse(line: dict):
    """The messages, or {"error": ...}."""
    inner = harmony()._inner
    try:
        return json.loads(
            inner.parse_messages_from_completion_tokens(line["tokens"], line["role"], True)
        )
    except (ValueError, RuntimeError) as error:
        return {"error": str(error)}


def words() -> dict[str, list[int]]:
    return {
        text: harmony().encode(text, disallowed_special=()) for text in harmony_cases.WORDS
    }


def chunk_of(kind: str, number: int) -> tuple[list[dict], list]:
    if kind == "render":
        lines = harmony_cases.conversation_chunk(number)
        return lines, [render(line) for line in lines]
    lines = harmony_cases.stream_chunk(number, words())
    return lines, [parse(line) for line in lines]


def explicit(lines: list[dict], answers: list, hashes_ids: bool) -> str:
    """A line a case; ids as a hash, to keep the files small."""
    out = ""
    for line, answer in zip(lines, answers, strict=True):
        if isinstance(answer, dict):
            answer = {"error": True}
        elif hashes_ids:
            ids_hash = IdHash()
            ids_hash.add(answer)
            answer = ids_hash.hex()
        out += dump({"line": line, "answer": answer}) + "\n"
    return out


def make_all() -> dict[str, str]:
    files = {}
    hashes = {"words": words()}
    counts = {"render": harmony_cases.NUM_CONVERSATION_CHUNKS, "parse": harmony_cases.NUM_STREAM_CHUNKS}
    for kind, count in counts.items():
        hashes[kind] = []
        for number in range(count):
            lines, answers = chunk_of(kind, number)
            hashes[kind].append(harmony_cases.answer_hash(answers))
            if number < NUM_EXPLICIT_CHUNKS:
                files[f"harmony_{kind}_cases.jsonl"] = explicit(
                    lines, answers, hashes_ids=kind == "render"
                )
    files["harmony_hashes.json"] = dump(hashes) + "\n"
    return files


def main() -> None:
    if sys.argv[1:2] == ["--show"] and len(sys.argv) == 4:
        print(explicit(*chunk_of(sys.argv[2], int(sys.argv[3])), hashes_ids=False), end="")
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
            path.write_text(text)
            print(f"{path.relative_to(ROOT)}: {len(text)} bytes")
    if wrong:
        sys.exit("not what the library gives: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
