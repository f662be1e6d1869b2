"""Tools through OpenAI's own client, over a model that says what each test wants."""

import json

import httpx
import openai
import pytest
from openai import OpenAI
from rapt_process import API_KEY, ScriptedServer

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Tells the weather.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "Where."}},
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "convert",
            "description": "Celsius to Fahrenheit.",
            "parameters": {"type": "object", "properties": {"celsius": {"type": "number"}}},
        },
    },
]
QUESTION = {"role": "user", "content": "How warm is Oslo, in Fahrenheit?"}


def call(name: str, arguments: dict) -> str:
    return (
        f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>"
        f"{json.dumps(arguments)}<|call|>"
    )


def thought(text: str) -> str:
    return f"<|channel|>analysis<|message|>{text}<|end|><|start|>assistant"


def final(text: str) -> str:
    return f"<|channel|>final<|message|>{text}<|return|>"


@pytest.fixture
def client(scripted: ScriptedServer):
    with scripted.openai() as made:
        yield made


def post(scripted: ScriptedServer, path: str, **body) -> dict:
    headers = {"authorization": f"Bearer {API_KEY}"}
    response = httpx.post(scripted.url + path, json=body, headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


def tokenize(scripted: ScriptedServer, text: str) -> list[int]:
    return post(scripted, "/tokenize", prompt=text)["tokens"]


def ask(client: OpenAI, streams: bool, **arguments):
    """One choice, read whole or through the client's own helper for streams."""
    arguments = {"model": "demo", "messages": [QUESTION], "tools": TOOLS, **arguments}
    if not streams:
        return client.chat.completions.create(**arguments).choices[0]
    with client.chat.completions.stream(**arguments) as stream:
        for _ in stream:
            pass
        try:
            return stream.get_final_completion().choices[0]
        except openai.LengthFinishReasonError as cut:
            return cut.completion.choices[0]


WAYS = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])


@WAYS
def test_conversation_with_two_tools(scripted: ScriptedServer, client: OpenAI, streams: bool):
    scripted.say(
        thought("I need the weather.") + call("get_weather", {"city": "Oslo"}),
        thought("Now convert.") + call("convert", {"celsius": 4}),
        thought("Done.") + final("It is 39.2 °F in Oslo."),
    )
    results = {"get_weather": "4 degrees Celsius", "convert": [{"type": "text", "text": "39.2"}]}
    messages = [QUESTION]
    seen_ids = set()
    for name, arguments in (("get_weather", {"city": "Oslo"}), ("convert", {"celsius": 4})):
        choice = ask(client, streams, messages=messages)
        assert choice.finish_reason == "tool_calls"
        assert not choice.message.content
        (made,) = choice.message.tool_calls
        assert made.type == "function"
        assert made.function.name == name
        assert json.loads(made.function.arguments) == arguments
        assert made.id not in seen_ids
        seen_ids.add(made.id)
        messages.append(choice.message)
        messages.append({"role": "tool", "tool_call_id": made.id, "content": results[name]})
    choice = ask(client, streams, messages=messages)
    assert choice.finish_reason == "stop"
    assert choice.message.content == "It is 39.2 °F in Oslo."
    assert not choice.message.tool_calls
    # The prompt of the last turn holds both calls and both results.
    history = [m if isinstance(m, dict) else m.to_dict() for m in messages]
    render = post(scripted, "/v1/chat/completions/render", messages=history, tools=TOOLS)
    for text in (
        "to=functions.get_weather<|channel|>commentary json<|message|>",
        "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>4 degrees",
        "<|start|>functions.convert to=assistant<|channel|>commentary<|message|>39.2<|end|>",
        "namespace functions",
    ):
        assert text in render["prompt"]
    assert render["prompt"].endswith("<|start|>assistant")


def test_deltas_have_index_and_id(scripted: ScriptedServer, client: OpenAI):
    two_calls = (
        thought("Both.")
        + call("get_weather", {"city": "Oslo"}).replace("<|call|>", "<|end|><|start|>assistant")
        + call("convert", {"celsius": 1})
    )
    scripted.say(two_calls, final("No."))
    arguments: dict[tuple[int, int], str] = {}
    names, ids, finishes = {}, {}, {}
    for chunk in client.chat.completions.create(
        model="demo", messages=[QUESTION], tools=TOOLS, stream=True, n=2
    ):
        for choice in chunk.choices:
            if choice.finish_reason:
                assert choice.index not in finishes
                finishes[choice.index] = choice.finish_reason
            for delta in choice.delta.tool_calls or []:
                key = (choice.index, delta.index)
                if key not in arguments:
                    assert delta.id and delta.type == "function" and delta.function.name
                    assert delta.function.arguments == ""
                    arguments[key] = ""
                    names[key], ids[key] = delta.function.name, delta.id
                else:
                    assert delta.id is None and delta.type is None and delta.function.name is None
                    arguments[key] += delta.function.arguments
    assert names == {(0, 0): "get_weather", (0, 1): "convert"}
    assert json.loads(arguments[0, 0]) == {"city": "Oslo"}
    assert json.loads(arguments[0, 1]) == {"celsius": 1}
    assert len(set(ids.values())) == 2
    assert finishes == {0: "tool_calls", 1: "stop"}


@WAYS
def test_none_returns_no_call(scripted: ScriptedServer, client: OpenAI, streams: bool):
    scripted.say(call("get_weather", {"city": "Oslo"}))
    choice = ask(client, streams, tool_choice="none")
    assert choice.finish_reason == "stop"
    assert not choice.message.tool_calls
    assert json.loads(choice.message.content) == {"city": "Oslo"}


@WAYS
def test_named_choice_is_kept(scripted: ScriptedServer, client: OpenAI, streams: bool):
    # The model never says a header: what is not allowed is replaced by what must come.
    scripted.say('{"celsius": 3}<|call|>')
    choice = ask(
        client, streams, tool_choice={"type": "function", "function": {"name": "convert"}},
        max_tokens=100,
    )
    assert choice.message.tool_calls[0].function.name == "convert"


@WAYS
def test_undeclared_tool_is_text(scripted: ScriptedServer, client: OpenAI, streams: bool):
    scripted.say(call("delete_everything", {"now": True}))
    choice = ask(client, streams)
    assert choice.finish_reason == "stop"
    assert not choice.message.tool_calls
    assert json.loads(choice.message.content) == {"now": True}


@pytest.mark.parametrize(
    "fields, param",
    [
        ({"tool_choice": {"type": "function", "function": {"name": "nope"}}}, "tool_choice"),
        ({"tool_choice": "required", "tools": []}, "tool_choice"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name"),
        ({"tools": [TOOLS[0], TOOLS[0]]}, "tools[1].function.name"),
        ({"extra_body": {"functions": [TOOLS[0]["function"]]}}, "functions"),
        (
            {"messages": [QUESTION, {"role": "tool", "tool_call_id": "x", "content": "4"}]},
            "messages[1].tool_call_id",
        ),
    ],
    ids=str,
)
def test_bad_requests_name_the_field(client: OpenAI, fields, param):
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, False, **fields)
    assert caught.value.param == param
    assert caught.value.type == "invalid_request_error"


MALFORMED = {
    "text without a header": "Hello.",
    "words left in the header": "<|channel|>final and more words here<|message|>Hello.<|return|>",
    "unknown channel": "<|channel|>comment<|message|>Hello.<|return|>",
    "no channel": "<|message|>Hello.<|return|>",
    "stray control tokens": "<|constrain|><|channel|>final<|message|>Hel<|constrain|>lo.<|return|>",
    "reserved tokens": "<|channel|>final<|message|>Hel<|reserved_200015|>lo.<|return|>",
    "two starts": "<|start|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>",
    "no end between messages": "<|channel|>final<|message|>Hel<|start|>assistant<|channel|>final"
    "<|message|>lo.<|return|>",
    "recipient nobody": "<|channel|>commentary to=<|message|>Hello.<|end|>",
    "another role": "<|start|>user<|message|>Hello.<|end|>",
    "half a character": [200005, 17196, 200008, 13225, 169, 200002],
    "arguments one brace short": '<|channel|>commentary to=functions.convert<|message|>{"a":1',
    "arguments that are no JSON": "<|channel|>commentary to=functions.convert<|message|>1 C<|call|>",
    "only thinking": "<|channel|>analysis<|message|>Hmm",
    "ends inside a header": "<|channel|>commentary to=functions.con",
    "nothing but ends": "<|end|><|end|><|end|>",
    "nothing": "",
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_output_is_an_answer(scripted: ScriptedServer, client: OpenAI, what: str):
    output = MALFORMED[what]
    scripted.say(output, output)
    whole, streamed = ask(client, False), ask(client, True)
    assert whole.finish_reason == streamed.finish_reason
    text = whole.message.content or ""
    assert text == (streamed.message.content or "")
    assert "<|" not in text
    calls = [made.function for made in whole.message.tool_calls or []]
    again = [made.function for made in streamed.message.tool_calls or []]
    assert [(c.name, c.arguments) for c in calls] == [(c.name, c.arguments) for c in again]
    assert all(made.name in ("get_weather", "convert") for made in calls)
    if isinstance(output, str) and "Hello." in output:
        assert text == "Hello."


def test_spelled_out_control_tokens_are_text(scripted: ScriptedServer, client: OpenAI):
    # Only ids count. "<|start|>" by its pieces: what a model writes when it talks about the token.
    pieces = ["Say <", "|", "start", "|", "> now."]
    tokens = [i for piece in pieces for i in tokenize(scripted, piece)]
    assert max(tokens) < 199998
    scripted.say([200005, 17196, 200008, *tokens, 200002])
    assert ask(client, False).message.content == "Say <|start|> now."


def test_tokenize_and_back(scripted: ScriptedServer):
    answer = post(scripted, "/tokenize", prompt="Hello wörld", return_token_strs=True)
    assert answer["count"] == len(answer["tokens"]) == len(answer["token_strs"])
    assert answer["max_model_len"] == 131072
    back = post(scripted, "/detokenize", tokens=answer["tokens"])
    assert back == {"prompt": "Hello wörld"}
    chat = {"messages": [QUESTION], "tools": TOOLS}
    rendered = post(scripted, "/v1/chat/completions/render", **chat)
    assert post(scripted, "/tokenize", **chat)["tokens"] == rendered["prompt_token_ids"]


@pytest.mark.parametrize("path", ["/tokenize", "/detokenize", "/v1/chat/completions/render"])
def test_text_routes_need_the_key(scripted: ScriptedServer, path: str):
    assert httpx.post(scripted.url + path, json={"prompt": "a"}).status_code == 401
