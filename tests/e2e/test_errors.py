"""Whatever a client sends, it gets an answer of the 4xx kind in OpenAI's shape."""

import json
import socket

import httpx
import openai
import pytest
from openai import OpenAI
from rapt_process import API_KEY, RaptServer

QUESTION = [{"role": "user", "content": "Hi"}]
CHAT = "/v1/chat/completions"
TEXT = "/v1/completions"


def chat(**fields) -> tuple[str, bytes]:
    return CHAT, json.dumps({"messages": QUESTION, **fields}).encode()


def messages(*items) -> tuple[str, bytes]:
    return CHAT, json.dumps({"messages": list(items)}).encode()


def text(**fields) -> tuple[str, bytes]:
    return TEXT, json.dumps({"prompt": "Hi", **fields}).encode()


MALFORMED = [
    *[
        (CHAT, body)
        for body in (
            b"",
            b"{",
            b"[]",
            b"null",
            b"0",
            b'"x"',
            b"{}",
            b"{]",
            b'{"messages":[}',
            b"not json at all",
            b'{"messages":[],}',
            b'{"a":"\xff\xfe"}',
            b'{"a":"\xed\xa0\x80"}',
            b'{"a":"\\ud800"}',
            b'{"a":1e999}',
            b'{"a":NaN}',
            b'{"a":-}',
            b"\x00\x01\x02",
            b"\xef\xbb\xbf{}",
            b'{"messages":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
            b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
            b'{"messages":' + b"9" * 100_000 + b"}",
        )
    ],
    messages(),
    messages(1),
    messages("hi"),
    messages(None),
    messages({}),
    messages({"role": "user"}),
    messages({"role": "user", "content": 5}),
    messages({"role": "user", "content": {"text": "x"}}),
    messages({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}),
    messages({"role": "user", "content": [{"type": "text"}]}),
    messages({"role": "user", "content": [["x"]]}),
    messages({"role": "wizard", "content": "x"}),
    messages({"role": "tool", "content": "x", "tool_call_id": "1"}),
    messages({"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}),
    messages({"role": "function", "name": "f", "content": "x"}),
    chat(model=7),
    chat(temperature="warm"),
    chat(temperature=-1),
    chat(temperature=1e300),
    chat(top_p=0),
    chat(top_p=2),
    chat(top_p=[]),
    chat(top_k=-5),
    chat(min_p=-0.1),
    chat(n=0),
    chat(n=10_000),
    chat(n="2"),
    chat(seed=0.5),
    chat(seed=2**64),
    chat(max_tokens=0),
    chat(max_tokens=-1),
    chat(max_tokens=1.5),
    chat(max_completion_tokens=[1]),
    chat(min_tokens=10, max_tokens=5),
    chat(stop=5),
    chat(stop=[""]),
    chat(stop=["x"] * 100),
    chat(stop_token_ids=[10**12]),
    chat(stop_token_ids=["x"]),
    chat(logit_bias={"cat": 1}),
    chat(logit_bias={"5": 1000}),
    chat(logit_bias={"201088": 1}),
    chat(logprobs="yes"),
    chat(top_logprobs=3),
    chat(logprobs=True, top_logprobs=50),
    chat(presence_penalty=5),
    chat(frequency_penalty="a"),
    chat(repetition_penalty=-1),
    chat(stream=1),
    chat(stream_options={"include_usage": True}),
    chat(stream=True, stream_options=[]),
    chat(reasoning_effort="maximal"),
    chat(tools=[{"type": "function", "function": {}}]),
    chat(tools=[{"type": "function", "function": {"name": "f", "parameters": 1}}]),
    chat(tools={}),
    chat(tool_choice="sometimes"),
    chat(functions=[{"name": "f"}]),
    chat(tool_choice="required"),
    chat(response_format={"type": "json_schema", "json_schema": {}}),
    chat(chat_template_kwargs={"conversation_date": "tomorrow"}),
    text(prompt=None),
    text(prompt=""),
    text(prompt=[]),
    text(prompt=[[]]),
    text(prompt=[-1]),
    text(prompt=[201_088]),
    text(prompt=[10**15]),
    text(prompt=["a", 1]),
    text(prompt=[1, "a"]),
    text(prompt={"a": 1}),
    text(prompt="x " * 5000),
    text(max_tokens=-1),
    text(logprobs=100),
    text(logprobs=True),
    text(suffix="end"),
    text(best_of=5),
    text(echo="yes"),
]

GARBAGE = [
    b"hello\r\n\r\n",
    b"\r\n\r\n\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/3.0\r\n\r\n",
    b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
    b"GET /%00 HTTP/1.1\r\n\r\n",
    b"POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n",
    b"POST /v1/completions HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
    b"POST /v1/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    b"POST /v1/completions HTTP/1.1\r\nauthorization: Bearer test-key\r\ncontent-length: 2\r\n\r\n\xff\xfe",
    b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + bytes(range(200)),
    bytes(range(256)) * 10,
    b"A" * 200_000,
    b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20_000 + b"\r\n",
]


def assert_error_shape(body: dict) -> None:
    assert set(body) == {"error"}
    error = body["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str) and error["message"]
    assert isinstance(error["type"], str)
    assert error["param"] is None or isinstance(error["param"], str)
    assert error["code"] is None or isinstance(error["code"], str)


@pytest.fixture(scope="module")
def http(server: RaptServer):
    headers = {"authorization": f"Bearer {API_KEY}", "content-type": "application/json"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=60) as made:
        yield made


@pytest.mark.parametrize(
    ("path", "body"), MALFORMED, ids=[f"{i}-{body[:40]!r}" for i, (_, body) in enumerate(MALFORMED)]
)
def test_malformed_body_is_4xx_in_shape(http: httpx.Client, path: str, body: bytes):
    answer = http.post(path, content=body)
    assert answer.status_code == 400, answer.text
    assert_error_shape(answer.json())
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert answer.headers["x-request-id"]
    assert http.get("/health").status_code == 200


def test_there_are_enough_malformed_bodies():
    assert len(MALFORMED) >= 60


@pytest.mark.parametrize("sent", GARBAGE, ids=lambda sent: repr(sent[:30]))
def test_garbage_on_the_socket_is_4xx_or_nothing(server: RaptServer, sent: bytes):
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        received = b""
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                received += piece
        except (ConnectionResetError, BrokenPipeError):
            pass  # the server had heard enough
    if received:
        head, _, body = received.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 4"), received
        assert_error_shape(json.loads(body))
    assert server.get("/health").status_code == 200


def test_sdk_raises_its_own_classes(server: RaptServer, client: OpenAI):
    with pytest.raises(openai.BadRequestError) as bad:
        client.chat.completions.create(model="demo", messages=QUESTION, temperature=-1)
    assert (bad.value.param, bad.value.code) == ("temperature", "invalid_value")
    assert bad.value.type == "invalid_request_error"

    with pytest.raises(openai.NotFoundError) as unknown:
        client.chat.completions.create(model="gpt-9", messages=QUESTION)
    assert (unknown.value.param, unknown.value.code) == ("model", "model_not_found")
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-9")
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="demo", input="x")

    with pytest.raises(openai.AuthenticationError) as stranger:
        server.openai(api_key="wrong").models.list()
    assert stranger.value.code == "invalid_api_key"


def test_context_overflow_has_its_code(client: OpenAI):
    long = [{"role": "user", "content": "word " * 5000}]
    with pytest.raises(openai.BadRequestError) as overflow:
        client.chat.completions.create(model="demo", messages=long)
    assert overflow.value.code == "context_length_exceeded"
    assert overflow.value.param == "messages"


def test_full_queue_is_a_rate_limit(start_server):
    server = start_server("--max-num-seqs", "1", "--max-queued-requests", "1")
    endless = {
        "model": "demo",
        "prompt": "The",
        "max_tokens": 2000,
        "stream": True,
        "extra_body": {"ignore_eos": True},
    }
    with server.openai() as client:
        running = client.completions.create(**endless)
        next(iter(running))
        waiting = client.completions.create(**endless)
        with pytest.raises(openai.RateLimitError) as full:
            client.completions.create(**endless)
        assert full.value.code == "rate_limit_exceeded"
        assert int(full.value.response.headers["retry-after"]) >= 1
        running.close()
        waiting.close()
        server.wait_for_metric("vllm:num_requests_running", 0)
        server.wait_for_metric("vllm:num_requests_waiting", 0)


def test_too_large_a_body_is_413(http: httpx.Client):
    answer = http.post(CHAT, content=b" " * (33 << 20))
    assert answer.status_code == 413
    assert_error_shape(answer.json())


def test_wrong_method_and_route(http: httpx.Client):
    wrong = http.get(CHAT)
    assert wrong.status_code == 405
    assert "POST" in wrong.headers["allow"]
    assert_error_shape(wrong.json())
    missing = http.post("/v1/nothing", content=b"{}")
    assert missing.status_code == 404
    assert_error_shape(missing.json())


def test_unknown_fields_are_ignored_and_counted(server: RaptServer, client: OpenAI):
    client.chat.completions.create(
        model="demo", messages=QUESTION, max_tokens=1, extra_body={"brand_new_field": {"a": [1]}}
    )
    assert server.metric("rapt:ignored_fields_total", field="brand_new_field") == 1
