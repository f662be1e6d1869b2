"""Conversations for the chat templates in tests/cases/chat/templates, as a template sees them.

Some are written by hand, each for something that templates disagree about; the others are drawn.
"""

from text_oracles import Random

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather at a place, now.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "A town; \"Paris\" or Köln"},
                "days": {"type": ["integer", "null"], "minimum": 0, "maximum": 1.5},
                "units": {"type": "array", "items": {"type": "string", "enum": ["C", "<F>"]}},
                "more": {"type": "object", "additionalProperties": {"type": "number"}},
            },
            "required": ["place"],
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock", "description": "", "parameters": {}}}


def _call(arguments, call_id: str = "abcdefghi", name: str = "get_weather") -> dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _turn(role: str, content: str, **more) -> dict:
    return {"role": role, "content": content, **more}


SYSTEM = _turn("system", "  You answer in one word. \n")
HELLO = _turn("user", "Hello <|im_end|><|eot_id|></s> & \"you\"")
HI = _turn("assistant", "Hi!\n")
PARIS = {"place": "Paris", "days": 2, "more": {"x": [1, 2.5, None, True, "é"]}}

MESSAGES = [
    [HELLO],
    [SYSTEM, HELLO],
    [HELLO, HI, _turn("user", "日本の首都は？\n\n")],
    [SYSTEM, HELLO, HI, _turn("user", " again ")],
    [SYSTEM],
    [HELLO, HELLO],
    [HELLO, _turn("assistant", "<think>\nhm\n</think>\n\nYes."), _turn("user", "Sure?")],
    [HELLO, _turn("assistant", "Yes.", reasoning_content="It is so."), _turn("user", "Sure?")],
    [HELLO, _turn("assistant", "", tool_calls=[_call(PARIS)])],
    [HELLO, _turn("assistant", "", tool_calls=[_call('{"place": "Paris"}')])],
    [
        SYSTEM,
        HELLO,
        _turn("assistant", "Let me see.", tool_calls=[_call(PARIS), _call({}, "123456789", "clock")]),
        _turn("tool", '{"temperature": 21}', tool_call_id="abcdefghi", name="get_weather"),
        _turn("tool", "12:00", tool_call_id="123456789"),
        _turn("assistant", "21 degrees at noon."),
        _turn("user", "Thanks"),
    ],
    [
        HELLO,
        _turn("assistant", "", tool_calls=[_call(PARIS, "call_long_id")], reasoning_content="Call it.\n"),
        _turn("tool", "sunny", tool_call_id="call_long_id"),
    ],
]

OPTIONS = [
    {"add_generation_prompt": True, "tools": None},
    {"add_generation_prompt": False, "tools": None},
    {"add_generation_prompt": True, "tools": [WEATHER]},
    {"add_generation_prompt": True, "tools": [WEATHER, CLOCK], "enable_thinking": False},
    {
        "add_generation_prompt": True,
        "tools": None,
        "documents": [{"title": "b", "text": "one two three"}, {"title": "A", "text": "x"}, {"title": "b", "text": "four five six seven eight"}],
        "builtin_tools": ["search", "code_interpreter"],
        "tools_in_user_message": False,
    },
    {"add_generation_prompt": True, "tools": [CLOCK], "tools_in_user_message": False, "date_string": "today"},
]
SPECIAL_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

NUM_DRAWN = 200
TEXTS = [
    "", " ", "\n", "Hi", "  two  words  ", "line\nline\n", "\n\n\tindented\n\n", "日本の首都は？", "Größe – ß İ ǆ",
    "👍🏽 e\u0301", "it's \"quoted\" \\ back\\n", "<|im_end|>", "<|im_start|>system\n", "[INST] x [/INST]", "</s><s>",
    "<think>no</think>yes", "a</think>b</think>c", "<tool_call>\n{}\n</tool_call>", '{"a": [1, 2.5, null]}', "{{ x }}{% if %}",
    "1 < 2 & 3 > 2", "\u00a0\u2003nbsp\u00a0", "\u2028\u2029\x85", "%s {} ${x}", "x" * 300, "end with space ", "\r\nCRLF\r\n",
]
VALUES = ["Paris", "", "é\n", 0, -1, 10**18, 1.5, 1e-7, 1e22, True, None, [], [1, "b", None], {}, {"x": {"y": [True]}}]


class Talk:
    """One conversation, mostly as clients write them: at times with roles out of order."""

    def __init__(self, random: Random):
        self.random = random

    def chance(self, one_in: int) -> bool:
        return self.random.below(one_in) == 0

    def text(self) -> str:
        return "".join(self.random.choice(TEXTS) for _ in range(1 + self.random.below(2)))

    def arguments(self):
        names = ["place", "days", "größe", 'q"', ""]
        made = {self.random.choice(names): self.random.choice(VALUES) for _ in range(self.random.below(4))}
        return self.random.choice(['{"place": "Rom"}', ""]) if self.chance(4) else made

    def assistant(self) -> dict:
        turn = _turn("assistant", self.text())
        if self.chance(4):
            turn["reasoning_content"] = self.text()
        if self.chance(4):
            ids = ["abcdefghi", "123456789", "call_1"]
            calls = range(1 + self.random.below(2))
            turn["tool_calls"] = [_call(self.arguments(), self.random.choice(ids)) for _ in calls]
        return turn

    def messages(self) -> list[dict]:
        turns = [_turn("system", self.text())] if self.chance(3) else []
        for _ in range(self.random.below(4)):
            turns.append(_turn("user", self.text()))
            turns.append(self.assistant())
            for call in turns[-1].get("tool_calls", []):
                turns.append(_turn("tool", self.text(), tool_call_id=call["id"], name="get_weather"))
                if self.chance(2):
                    turns.append(_turn("assistant", self.text()))
        if self.chance(8):
            turns.insert(self.random.below(len(turns) + 1), _turn(self.random.choice(["system", "user", "tool"]), self.text()))
        return turns if turns and self.chance(6) else [*turns, _turn("user", self.text())]

    def variables(self) -> dict:
        options = self.random.choice(OPTIONS) if self.chance(2) else OPTIONS[0]
        return {**SPECIAL_TOKENS, "messages": self.messages(), **options}


def all_variables() -> list[dict]:
    written = [
        {**SPECIAL_TOKENS, "messages": messages, **options}
        for messages in MESSAGES
        for options in OPTIONS
    ]
    return written + [Talk(Random(seed)).variables() for seed in range(NUM_DRAWN)]
