#!/usr/bin/env python3
"""Makes tests/cases/chat/jinja_*.jsonl with Python's jinja2, in the environment that transformers uses.

usage: tools/make_jinja_vectors.py            writes the files
       tools/make_jinja_vectors.py --check    makes them again and compares
       tools/make_jinja_vectors.py --show N   prints program N and what it gives for each set of variables
Reads the chat templates in tests/cases/chat/templates.
Needs jinja2 and transformers (tools/setup_oracles.sh).
"""

import datetime
import json
import sys
import warnings

import jinja_cases
import jinja_conversations
from text_oracles import ROOT, Random, dump

CASES = ROOT / "tests/cases/chat"
NUM_PROGRAMS = 800
NUM_EXPLICIT = 60  # programs whose outputs are stored whole
DATE = datetime.datetime(2025, 7, 4)


def compiled(template: str):
    from transformers.utils import chat_template_utils

    made = chat_template_utils._cached_compile_jinja_template(template)
    made.globals["strftime_now"] = DATE.strftime
    return made


def render(template: str, variables: dict):
    """The text, or None where there is an error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = compiled(template).render(**variables)
            text.encode("utf-8")
            return text
    except Exception:
        return None


def text_hash(text) -> str:
    """FNV-1a of the UTF-8 bytes; "error" where there is no text."""
    if text is None:
        return "error"
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & Random.MASK
    return f"{value:016x}"


def is_portable(text) -> bool:
    """Whether the output holds nothing that only one process, or only Python, prints."""
    return text is None or not any(word in text for word in (" at 0x", "<generator", "<Macro", "<Loop", "<Cycler"))


def programs():
    """Programs that work for some of the variables, and a few that always fail."""
    kept, seed, num_failing = [], 0, 0
    while len(kept) < NUM_PROGRAMS:
        template = jinja_cases.program(seed)
        seed += 1
        outputs = [render(template, variables) for variables in jinja_cases.VARIABLE_SETS]
        if not all(map(is_portable, outputs)) or not template or len(template) > 1500:
            continue
        if all(output is None for output in outputs):
            num_failing += 1
            if num_failing > NUM_PROGRAMS // 20:
                continue
        kept.append((template, outputs))
    return kept


def conversations() -> str:
    """One line a template: the hashes for each conversation, and every twelfth output whole."""
    lines = []
    for path in sorted((CASES / "templates").glob("*.jinja")):
        template = path.read_text()
        outputs = [render(template, variables) for variables in jinja_conversations.all_variables()]
        lines.append({"template": path.name, "hashes": list(map(text_hash, outputs))})
        lines[-1]["outputs"] = {str(i): outputs[i] for i in range(2, len(outputs), 12)}
    return "".join(dump(line) + "\n" for line in lines)


def make_all() -> dict:
    lines = []
    for index, (template, outputs) in enumerate(programs()):
        line = {"template": template, "hashes": [text_hash(output) for output in outputs]}
        if index < NUM_EXPLICIT:
            line["outputs"] = outputs
        lines.append(dump(line) + "\n")
    variables = "".join(dump(variables) + "\n" for variables in jinja_cases.VARIABLE_SETS)
    talks = "".join(dump(variables) + "\n" for variables in jinja_conversations.all_variables())
    return {
        "jinja_programs.jsonl": "".join(lines),
        "jinja_variables.jsonl": variables,
        "jinja_talks.jsonl": talks,
        "jinja_templates.jsonl": conversations(),
    }


def main() -> None:
    if sys.argv[1:2] == ["--show"] and len(sys.argv) == 3:
        template, outputs = programs()[int(sys.argv[2])]
        print(template)
        for output in outputs:
            print("-----", text_hash(output))
            print(output)
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
        sys.exit("not what jinja2 gives: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
