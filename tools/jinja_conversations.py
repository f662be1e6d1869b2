"""Conversations for the chat templates in tests/cases/chat/templates, as a template sees them."""

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


def all_variables() -> list[dict]:
    return [
        {**SPECIAL_TOKENS, "messages": messages, **options}
        for messages in MESSAGES
        for options in OPTIONS
    ]
