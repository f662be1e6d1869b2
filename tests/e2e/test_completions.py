"""Text completions through OpenAI's own client."""

import pytest
from openai import OpenAI

SAMPLINGS = [{"temperature": 0}, {"temperature": 1, "seed": 7}]


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_streamed_equals_whole(client: OpenAI, sampling):
    arguments = {
        "model": "demo",
        "prompt": ["The quiet", "Every"],
        "n": 2,
        "max_tokens": 12,
        "logprobs": 2,
        "extra_body": {"return_token_ids": True, "ignore_eos": True},
        **sampling,
    }
    whole = client.completions.create(**arguments)
    text, ids, tokens, finish = {}, {}, {}, {}
    for chunk in client.completions.create(stream=True, **arguments):
        for choice in chunk.choices:
            text[choice.index] = text.get(choice.index, "") + choice.text
            ids.setdefault(choice.index, []).extend(choice.token_ids)
            if choice.logprobs:
                tokens.setdefault(choice.index, []).extend(choice.logprobs.tokens)
            if choice.finish_reason:
                assert choice.index not in finish
                finish[choice.index] = choice.finish_reason
    assert [choice.index for choice in whole.choices] == [0, 1, 2, 3]
    for choice in whole.choices:
        assert choice.text == text[choice.index]
        assert choice.token_ids == ids[choice.index]
        assert choice.logprobs.tokens == tokens[choice.index]
        assert choice.finish_reason == finish[choice.index] == "length"
        assert len(choice.token_ids) == 12
    assert whole.usage.completion_tokens == 4 * 12
    assert whole.choices[0].prompt_token_ids == whole.choices[1].prompt_token_ids
    assert whole.choices[0].prompt_token_ids != whole.choices[2].prompt_token_ids


def test_all_prompt_forms_mean_the_same(client: OpenAI):
    def complete(prompt):
        return client.completions.create(
            model="demo",
            prompt=prompt,
            temperature=0,
            max_tokens=8,
            extra_body={"return_token_ids": True},
        )

    by_text = complete("The quiet cat").choices[0]
    ids = by_text.prompt_token_ids
    for prompt in (ids, [ids], ["The quiet cat"]):
        assert complete(prompt).choices[0].token_ids == by_text.token_ids
    assert [choice.text for choice in complete([ids, ids]).choices] == [by_text.text] * 2


def test_special_tokens_in_text_prompts_are_tokens(client: OpenAI):
    answer = client.completions.create(
        model="demo", prompt="<|start|>user", max_tokens=1, extra_body={"return_token_ids": True}
    )
    assert answer.choices[0].prompt_token_ids == [200006, 1428]


def test_echo_puts_the_prompt_first(client: OpenAI):
    arguments = {"model": "demo", "prompt": "The quiet", "temperature": 0, "max_tokens": 5}
    plain = client.completions.create(**arguments).choices[0].text
    assert client.completions.create(echo=True, **arguments).choices[0].text == "The quiet" + plain
    nothing = client.completions.create(**{**arguments, "echo": True, "max_tokens": 0})
    assert nothing.choices[0].text == "The quiet"


def test_logprobs_have_the_old_shape(client: OpenAI):
    answer = client.completions.create(
        model="demo", prompt="The quiet", temperature=0, max_tokens=6, logprobs=3
    )
    choice = answer.choices[0]
    logprobs = choice.logprobs
    assert "".join(logprobs.tokens) == choice.text
    for token, logprob, top, offset in zip(
        logprobs.tokens,
        logprobs.token_logprobs,
        logprobs.top_logprobs,
        logprobs.text_offset,
        strict=True,
    ):
        assert len(top) == 3
        assert top[token] == logprob == max(top.values())
        assert choice.text[offset:].startswith(token)


def test_bias_decides_and_bans(client: OpenAI):
    arguments = {"model": "demo", "prompt": "The", "temperature": 0, "max_tokens": 4}
    plain = client.completions.create(
        extra_body={"return_token_ids": True}, **arguments
    ).choices[0].token_ids
    banned = client.completions.create(
        logit_bias={str(plain[0]): -100}, extra_body={"return_token_ids": True}, **arguments
    ).choices[0].token_ids
    assert plain[0] not in banned


def test_stop_token_id_is_told(client: OpenAI):
    arguments = {"model": "demo", "prompt": "The quiet", "temperature": 0, "max_tokens": 8}
    ids = client.completions.create(
        extra_body={"return_token_ids": True}, **arguments
    ).choices[0].token_ids
    answer = client.completions.create(extra_body={"stop_token_ids": [ids[3]]}, **arguments)
    assert answer.choices[0].finish_reason == "stop"
    assert answer.choices[0].stop_reason == ids[3]
    assert answer.usage.completion_tokens == ids.index(ids[3]) + 1


def test_default_limit_is_sixteen_tokens(client: OpenAI):
    answer = client.completions.create(
        model="demo", prompt="The", extra_body={"ignore_eos": True}
    )
    assert answer.usage.completion_tokens == 16
