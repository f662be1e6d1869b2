"""Prompts with tools, calls and results for make_text_vectors.py, by openai-harmony."""

from chat_vectors import TEXTS
from openai_harmony import (
    Author,
    Conversation,
    DeveloperContent,
    HarmonyEncoding,
    Message,
    ReasoningEffort,
    RenderConversationConfig,
    Role,
    SystemContent,
    ToolDescription,
)
from text_oracles import IdHash, Random

NUM_PROMPTS = 120

TOOLS = [
    {
        "name": "get_weather",
        "description": "The weather in a city.\nToday's, not tomorrow's.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Its name"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
                "days": {"type": ["integer", "null"]},
            },
            "required": ["city"],
        },
    },
    {"name": "now"},
    {"name": "mcp__files__read-all", "description": "", "parameters": {}},
    {"name": "search.web", "parameters": {"type": "object", "properties": {}}},
    {"name": "python", "description": "Runs code."},
    {
        "name": "browser.open",
        "parameters": {
            "type": "object",
            "properties": {
                "targets": {"type": "array", "items": {"type": "object", "properties": {"url": {"type": "string"}}}}
            },
        },
    },
]
ALIASES = {"python": "use_python", "browser.open": "use_browser.open"}
EFFORTS = {"none": "Low", "minimal": "Low", "low": "Low", "medium": "Medium", "high": "High"}
ARGUMENTS = ['{"city": "Oslo"}', "{}", "", "print('<|call|>')", '{"cut": ', '{\n  "a": [1, 2.50]\n}']


def _turn(random: Random, names: list[str], num_calls: int) -> list[dict]:
    messages = [{"role": "user", "content": random.choice(TEXTS)}]
    for _ in range(random.below(4)):
        message = {"role": "assistant", "content": random.choice(TEXTS) if random.below(3) == 0 else ""}
        if random.below(3):
            message["reasoning"] = random.choice(TEXTS)
        message["tool_calls"] = []
        for _ in range(1 + random.below(3)):
            call = {"id": f"call_{num_calls}", "name": random.choice(names)}
            message["tool_calls"].append(call | {"arguments": random.choice(ARGUMENTS)})
            num_calls += 1
        messages.append(message)
        results = [
            {"role": "tool", "tool_call_id": call["id"], "content": random.choice(TEXTS)}
            for call in message["tool_calls"]
        ]
        messages += results if random.below(2) else reversed(results)
    if random.below(3):
        answer = {"role": "assistant", "content": random.choice(TEXTS)}
        if random.below(2):
            answer["reasoning"] = random.choice(TEXTS)
        messages.append(answer)
    return messages


def _request(random: Random) -> tuple[list[dict], dict]:
    options = {"reasoning_effort": random.choice(list(EFFORTS))}
    options["tools"] = [tool for tool in TOOLS if random.below(2)]
    options["tool_choice"] = "none" if random.below(5) == 0 else "auto"
    messages = []
    if random.below(2):
        messages.append({"role": random.choice(["system", "developer"]), "content": random.choice(TEXTS)})
        if random.below(4) == 0:
            messages[0]["content"] = ""
    names = [tool["name"] for tool in TOOLS] + ["old_tool"]
    for _ in range(1 + random.below(3)):
        num_calls = sum(len(message.get("tool_calls", [])) for message in messages)
        messages += _turn(random, names, num_calls)
    return messages, options


def _developer(instructions: str, tools: list[dict]) -> list[Message]:
    content = DeveloperContent.new()
    if instructions:
        content = content.with_instructions(instructions)
    if tools:
        content = content.with_function_tools(
            [
                ToolDescription.new(
                    ALIASES.get(tool["name"], tool["name"]),
                    tool.get("description", ""),
                    parameters=tool.get("parameters"),
                )
                for tool in tools
            ]
        )
    return [Message.from_role_and_content(Role.DEVELOPER, content)] if instructions or tools else []


def _assistant(message: dict) -> list[Message]:
    def said(channel: str, text: str) -> list[Message]:
        if not text:
            return []
        return [Message.from_role_and_content(Role.ASSISTANT, text).with_channel(channel)]

    calls = message.get("tool_calls", [])
    out = said("commentary", message["content"]) if calls else []
    out += said("analysis", message.get("reasoning", ""))
    out += [] if calls else said("final", message["content"])
    for call in calls:
        called = Message.from_role_and_content(Role.ASSISTANT, call["arguments"])
        called = called.with_channel("commentary").with_content_type("json")
        out.append(called.with_recipient("functions." + ALIASES.get(call["name"], call["name"])))
    return out


def _to_harmony(messages: list[dict], options: dict) -> list[Message]:
    effort = ReasoningEffort(EFFORTS[options["reasoning_effort"]])
    system = SystemContent.new().with_reasoning_effort(effort)
    out = [Message.from_role_and_content(Role.SYSTEM, system)]
    tools = [] if options["tool_choice"] == "none" else options["tools"]
    is_led = messages[0]["role"] in ("system", "developer")
    out += _developer(messages[0]["content"] if is_led else "", tools)
    names = {}
    for message in messages[1 if is_led else 0 :]:
        if message["role"] == "user":
            out.append(Message.from_role_and_content(Role.USER, message["content"]))
        elif message["role"] == "assistant":
            names |= {call["id"]: call["name"] for call in message.get("tool_calls", [])}
            out += _assistant(message)
        else:
            name = names[message["tool_call_id"]]
            author = Author(role=Role.TOOL, name="functions." + ALIASES.get(name, name))
            result = Message.from_author_and_content(author, message["content"])
            out.append(result.with_channel("commentary").with_recipient("assistant"))
    finals = [i for i, message in enumerate(out) if message.channel == "final"]
    last_final = finals[-1] if finals else 0
    return [m for i, m in enumerate(out) if i > last_final or m.channel != "analysis"]


def tool_prompt_vectors(encoding: HarmonyEncoding) -> list[dict]:
    random = Random(3)
    config = RenderConversationConfig(auto_drop_analysis=False)
    vectors = []
    for _ in range(NUM_PROMPTS):
        messages, options = _request(random)
        conversation = Conversation.from_messages(_to_harmony(messages, options))
        ids = encoding.render_conversation_for_completion(conversation, Role.ASSISTANT, config)
        ids_hash = IdHash()
        ids_hash.add(ids)
        # The tools by number, so that their schemas do not stand in every line.
        options = options | {"tools": [TOOLS.index(tool) for tool in options["tools"]]}
        vectors.append(
            {"messages": messages, "options": options, "num_ids": len(ids), "hash": ids_hash.hex()}
        )
    return [{"tools": TOOLS}, *vectors]
