"""Chat completions through OpenAI's own client."""

import concurrent.futures

import pytest
from openai import OpenAI

QUESTION = [{"role": "user", "content": "Why is the sky blue?"}]
SAMPLINGS = [{"temperature": 0}, {"temperature": 1, "seed": 7}, {"top_p": 0.8, "seed": -1}]


def streamed(client: OpenAI, **arguments):
    """Content, finish reasons and usage of a streamed answer, by choice index."""
    content: dict[int, str] = {}
    finishes: dict[int, list[str]] = {}
    usage = None
    ids = set()
    stream = client.chat.completions.create(
        model="demo", stream=True, stream_options={"include_usage": True}, **arguments
    )
    for chunk in stream:
        assert usage is None, "usage comes last"
        ids.add((chunk.id, chunk.created, chunk.model, chunk.system_fingerprint))
        usage = chunk.usage
        assert (chunk.choices == []) == (usage is not None)
        for choice in chunk.choices:
            if choice.index not in content:
                assert choice.delta.role == "assistant" and choice.delta.content == ""
                content[choice.index] = ""
            content[choice.index] += choice.delta.content or ""
            if choice.finish_reason:
                finishes.setdefault(choice.index, []).append(choice.finish_reason)
                assert not choice.delta.content
    assert len(ids) == 1
    return content, finishes, usage


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_streamed_equals_whole(client: OpenAI, sampling):
    arguments = {"messages": QUESTION, "max_tokens": 64, "n": 2, **sampling}
    whole = client.chat.completions.create(model="demo", **arguments)
    content, finishes, usage = streamed(client, **arguments)
    assert whole.object == "chat.completion"
    assert len(whole.choices) == 2
    for choice in whole.choices:
        assert choice.message.role == "assistant"
        assert choice.message.content
        assert choice.message.content == content[choice.index]
        assert finishes[choice.index] == [choice.finish_reason]
    assert usage == whole.usage


def test_usage_adds_up(client: OpenAI):
    answer = client.chat.completions.create(
        model="demo", messages=QUESTION, temperature=0, extra_body={"return_token_ids": True}
    )
    usage = answer.usage
    assert usage.prompt_tokens == len(answer.prompt_token_ids)
    assert usage.completion_tokens == len(answer.choices[0].token_ids)
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert usage.prompt_tokens_details.cached_tokens == 0
    assert usage.completion_tokens_details.reasoning_tokens == 0


def test_reasoning_has_both_names(client: OpenAI):
    # The toy never thinks: both are there and null.
    answer = client.chat.completions.create(model="demo", messages=QUESTION, max_tokens=8)
    message = answer.choices[0].message.to_dict()
    assert message["reasoning"] is message["reasoning_content"] is None
    assert message["refusal"] is None


def test_logprobs_of_the_visible_tokens(client: OpenAI):
    answer = client.chat.completions.create(
        model="demo", messages=QUESTION, temperature=0, logprobs=True, top_logprobs=3
    )
    entries = answer.choices[0].logprobs.content
    assert "".join(entry.token for entry in entries) == answer.choices[0].message.content
    for entry in entries:
        assert bytes(entry.bytes).decode() == entry.token
        assert len(entry.top_logprobs) == 3
        values = [other.logprob for other in entry.top_logprobs]
        assert values == sorted(values, reverse=True)
        assert entry.logprob == values[0] <= 0


def test_stop_string_cuts_the_answer(client: OpenAI):
    arguments = {"model": "demo", "messages": QUESTION, "temperature": 0, "max_tokens": 64}
    whole = client.chat.completions.create(**arguments).choices[0].message.content
    stop = whole.split()[2]
    answer = client.chat.completions.create(stop=["no such text", stop], **arguments)
    assert answer.choices[0].message.content == whole[: whole.index(stop)]
    assert answer.choices[0].finish_reason == "stop"
    assert answer.choices[0].stop_reason == stop
    content, finishes, _ = streamed(
        client, messages=QUESTION, temperature=0, max_tokens=64, stop=stop
    )
    assert content[0] == whole[: whole.index(stop)]
    assert finishes[0] == ["stop"]


def test_limit_ends_with_length(client: OpenAI):
    answer = client.chat.completions.create(
        model="demo", messages=QUESTION, max_completion_tokens=6, temperature=0
    )
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage.completion_tokens == 6


def test_every_role_and_part_form(client: OpenAI):
    answer = client.chat.completions.create(
        model="demo",
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": "Hello.", "reasoning_content": "A greeting."},
            {"role": "user", "content": "Who are you?", "name": "ada"},
        ],
        reasoning_effort="low",
        max_tokens=8,
    )
    assert answer.usage.prompt_tokens > 60


def test_same_seed_same_answer_in_any_company(client: OpenAI):
    def ask(seed: int) -> str:
        answer = client.chat.completions.create(
            model="demo", messages=QUESTION, seed=seed, max_tokens=48
        )
        return answer.choices[0].message.content

    alone = [ask(seed) for seed in range(4)]
    assert len(set(alone)) > 1
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        together = list(pool.map(ask, [0, 1, 2, 3] * 2))
    assert together == alone * 2
