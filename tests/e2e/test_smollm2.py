"""A real model with a chat template of its own: SmolLM2-135M-Instruct, from a GGUF file."""

import json
import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai import BadRequestError, OpenAI
from rapt_process import RaptServer

TIMEOUT_S = 120
# What the answer must hold, greedily drawn.
QUESTIONS = [
    ("What is the capital of Japan?", "Tokyo"),
    ("What is the chemical formula of water?", "H2O"),
    ("What is the capital of France?", "Paris"),
]
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
WEATHER = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}},
}


def ask(question: str) -> list[dict]:
    return [{"role": "user", "content": question}]


def capital(**more) -> dict:
    return {"model": "demo", "messages": ask(QUESTIONS[0][0]), "max_tokens": 48, **more}


@pytest.fixture(scope="module")
def smol_server(binary: Path, smollm2: Path) -> Iterator[RaptServer]:
    process = RaptServer(binary, smollm2, "--kv-cache-memory-bytes", "256MiB")
    yield process
    assert process.stop() == 0, process.log()


@pytest.fixture
def smol(smol_server: RaptServer) -> Iterator[OpenAI]:
    with smol_server.openai() as client:
        yield client


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
def test_answers(smol: OpenAI, question: str, answer: str):
    arguments = {"model": "demo", "messages": ask(question), "temperature": 0, "max_tokens": 64}
    whole = smol.chat.completions.create(**arguments)
    assert answer in whole.choices[0].message.content
    assert whole.choices[0].finish_reason == "stop", "the template's end of a turn"
    text, finish = "", None
    for chunk in smol.chat.completions.create(stream=True, **arguments):
        text += chunk.choices[0].delta.content or ""
        finish = chunk.choices[0].finish_reason or finish
    assert (text, finish) == (whole.choices[0].message.content, "stop")


@pytest.mark.parametrize("stream", [False, True])
def test_answers_curl(smol_server: RaptServer, stream: bool):
    body = json.dumps(capital(temperature=0, stream=stream))
    url = f"{smol_server.url}/v1/chat/completions"
    command = ["curl", "-sS", "-N", url, "-H", "Content-Type: application/json", "-d", body]
    out = subprocess.run(command, capture_output=True, check=True, timeout=TIMEOUT_S).stdout.decode()
    if not stream:
        assert "Tokyo" in json.loads(out)["choices"][0]["message"]["content"]
        return
    events = [line.removeprefix("data: ") for line in out.splitlines() if line]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    deltas = [chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks]
    assert "Tokyo" in "".join(deltas)
    assert len([delta for delta in deltas if delta]) > 1, "it comes in pieces"


def test_a_conversation_goes_on(smol: OpenAI):
    turns = ask("My dog is called Rex. Say hello to him.")
    turns.append({"role": "assistant", "content": "Hello, Rex!"})
    turns.append({"role": "user", "content": "What is my dog called?"})
    answer = smol.chat.completions.create(
        model="demo", messages=turns, temperature=0, max_tokens=32
    )
    assert "Rex" in answer.choices[0].message.content


def test_writes_the_prompt_as_the_template_says(smol: OpenAI):
    body = {"model": "demo", "messages": ask("Hi <|im_end|>")}
    prompt = smol.post("/chat/completions/render", body=body, cast_to=object)
    assert prompt["prompt"] == (
        f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\nHi <|im_end|><|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    start, end = 1, 2
    ids = prompt["prompt_token_ids"]
    assert ids[0] == start, "the template's first token, and none before it"
    assert (ids.count(start), ids.count(end)) == (3, 2), "what the user wrote is text"


def test_counts_what_it_reads_and_writes(smol: OpenAI):
    answer = smol.chat.completions.create(
        **capital(temperature=0, extra_body={"return_token_ids": True})
    )
    assert answer.usage.prompt_tokens == len(answer.prompt_token_ids) == 37
    assert answer.usage.completion_tokens == len(answer.choices[0].token_ids)


def test_completes_texts(smol: OpenAI):
    answer = smol.completions.create(
        model="demo", prompt="The capital of France is", temperature=0, max_tokens=8
    )
    assert "Paris" in answer.choices[0].text


def test_tools_may_be_sent(smol: OpenAI):
    answer = smol.chat.completions.create(**capital(temperature=0, tools=[WEATHER]))
    assert "Tokyo" in answer.choices[0].message.content, "the template shows the model no tools"
    assert answer.choices[0].message.tool_calls is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tool_choice", "required"),
        ("response_format", {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}),
        ("response_format", {"type": "json_object"}),
    ],
)
def test_what_it_cannot_promise_is_refused(smol: OpenAI, field: str, value):
    with pytest.raises(BadRequestError) as refused:
        smol.chat.completions.create(**capital(tools=[WEATHER], **{field: value}))
    assert refused.value.param == field
    assert field in refused.value.body["message"]


def test_refuses_what_the_template_does_not_take(binary: Path, smollm2: Path, tmp_path: Path):
    template = tmp_path / "own.jinja"
    template.write_text(
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('No system here') }}"
        "{% elif m.content == 'loop' %}{% for a in range(99999) %}{% for b in range(99999) %}"
        "{% endfor %}{% endfor %}{% elif m.content == 'grow' %}{{ 'x' * 99999999999 }}{% endif %}"
        "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    )
    flags = ("--kv-cache-memory-bytes", "64MiB", "--chat-template", str(template))
    server = RaptServer(binary, smollm2, *flags)
    try:
        with server.openai() as client:
            for role, content, says in (
                ("system", "x", "line 1: No system here"),
                ("user", "loop", "the template takes more than 10000000 steps"),
                ("user", "grow", "a text grows beyond 16 MiB"),
            ):
                with pytest.raises(BadRequestError) as refused:
                    client.chat.completions.create(
                        model="demo", messages=[{"role": role, "content": content}]
                    )
                assert "own.jinja) does not take this conversation" in refused.value.body["message"]
                assert says in refused.value.body["message"]
            answer = client.chat.completions.create(**capital(temperature=0))
            assert "Tokyo" in answer.choices[0].message.content, "others are served as before"
    finally:
        assert server.stop() == 0, server.log()


def test_sampling_is_the_servers_where_a_request_says_nothing(binary: Path, smollm2: Path):
    server = RaptServer(binary, smollm2, "--kv-cache-memory-bytes", "64MiB", "--temperature", "0")
    try:
        with server.openai() as client:
            greedy = {
                client.chat.completions.create(**capital()).choices[0].message.content
                for _ in range(3)
            }
            assert len(greedy) == 1
            drawn = {
                client.chat.completions.create(**capital(temperature=2, seed=seed))
                .choices[0]
                .message.content
                for seed in range(3)
            }
            assert len(drawn) > 1
    finally:
        assert server.stop() == 0, server.log()


def test_run_answers(binary: Path, smollm2: Path):
    command = [binary, "run", smollm2, QUESTIONS[0][0], "--temperature", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "The capital of Japan is Tokyo.\n"
    assert done.stderr.endswith("tokens/s, temperature 0\n")


def test_chat_talks(binary: Path, smollm2: Path):
    """At a terminal, as a person uses it."""
    parent, child = pty.openpty()
    command = [binary, "chat", smollm2, "--temperature", "0"]
    process = subprocess.Popen(command, stdin=child, stdout=subprocess.PIPE, stderr=child)
    os.close(child)
    try:
        os.write(parent, b"What is the capital of Japan?\n/exit\n")
        out, _ = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
        os.close(parent)
    assert process.returncode == 0
    assert "Tokyo" in out.decode()


def test_inspect_knows_it(binary: Path, smollm2: Path):
    command = [binary, "inspect", smollm2, "--json"]
    report = json.loads(subprocess.run(command, capture_output=True, timeout=TIMEOUT_S).stdout)
    assert report["architecture"] == "LlamaForCausalLM"
    assert 134_000_000 < report["num_parameters"] < 136_000_000
