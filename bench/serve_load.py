#!/usr/bin/env python3
"""Many clients at once against a server with the OpenAI API: Rapt's or another engine's.

    bench/serve_load.py http://127.0.0.1:8000 [--clients 8] [--prompt-tokens 200] [--answer-tokens 64]
                        [--rounds 1] [--words] [--json]

Every client streams one completion of random token ids (or, with --words, of as many made-up words, for
servers that take no ids) at temperature 0 and notes when each piece comes. Prints time to the first token,
time between tokens (each median and 99th percentile), and tokens a second, answers alone and with the
prompts. A piece of text may hold several tokens or none; the totals come from the server's own count where it
gives one. Needs Python's standard library only.
"""

import argparse
import http.client
import json
import random
import statistics
import sys
import threading
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass, field


@dataclass
class Answer:
    begun: float = 0.0
    # When each piece of the answer came.
    times: list[float] = field(default_factory=list)
    prompt_tokens: int = 0
    answer_tokens: int = 0
    error: str = ""


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0


def make_headers(options: argparse.Namespace) -> dict[str, str]:
    headers = {"Content-Type": "application/json"}
    if options.api_key:
        headers["Authorization"] = f"Bearer {options.api_key}"
    return headers


def first_model(options: argparse.Namespace) -> str:
    request = urllib.request.Request(
        options.url.rstrip("/") + "/v1/models", headers=make_headers(options)
    )
    try:
        with urllib.request.urlopen(request, timeout=options.timeout) as response:
            return json.load(response)["data"][0]["id"]
    except (OSError, json.JSONDecodeError, LookupError) as error:
        sys.exit(f"{request.full_url} names no model ({error!r}); give --model NAME")


def make_prompt(options: argparse.Namespace, seed: int) -> list[int] | str:
    generator = random.Random(seed)
    if options.words:
        letters = "abcdefghijklmnopqrstuvwxyz"
        words = ("".join(generator.choices(letters, k=3)) for _ in range(options.prompt_tokens))
        return " ".join(words)
    return [generator.randrange(options.vocabulary) for _ in range(options.prompt_tokens)]


def make_body(options: argparse.Namespace, seed: int) -> dict:
    return {
        "model": options.model,
        "prompt": make_prompt(options, seed),
        "max_tokens": options.answer_tokens,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "ignore_eos": True,
        "cache_prompt": False,  # llama-server's word for it
    }


def read_stream(response: http.client.HTTPResponse, answer: Answer) -> None:
    for line in response:
        line = line.strip()
        if not line.startswith(b"data: ") or line == b"data: [DONE]":
            continue
        event = json.loads(line[len(b"data: ") :])
        if event.get("choices"):
            answer.times.append(time.monotonic())
        if event.get("usage"):
            answer.prompt_tokens = event["usage"]["prompt_tokens"]
            answer.answer_tokens = event["usage"]["completion_tokens"]
        if "error" in event:
            answer.error = str(event["error"])


def run_client(options: argparse.Namespace, seed: int, start: threading.Barrier, answer: Answer) -> None:
    url = urllib.parse.urlparse(options.url)
    body = json.dumps(make_body(options, seed))
    connection = http.client.HTTPConnection(url.hostname, url.port or 80, timeout=options.timeout)
    connection.connect()
    start.wait()
    answer.begun = time.monotonic()
    try:
        connection.request("POST", "/v1/completions", body, make_headers(options))
        response = connection.getresponse()
        if response.status != 200:
            answer.error = f"{response.status}: {response.read()[:300]!r}"
            return
        read_stream(response, answer)
    except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
        answer.error = repr(error)
    finally:
        connection.close()


def run_round(options: argparse.Namespace, number: int) -> tuple[list[Answer], float]:
    answers = [Answer() for _ in range(options.clients)]
    start = threading.Barrier(options.clients + 1)
    threads = [
        threading.Thread(target=run_client, args=(options, 1000 * number + idx, start, answer))
        for idx, answer in enumerate(answers)
    ]
    for thread in threads:
        thread.start()
    start.wait()
    begin = time.monotonic()
    for thread in threads:
        thread.join()
    return answers, time.monotonic() - begin


def summarize(options: argparse.Namespace, answers: list[Answer], seconds: float) -> dict:
    complete = [answer for answer in answers if answer.times and not answer.error]
    first = [answer.times[0] - answer.begun for answer in complete]
    gaps = [
        later - sooner
        for answer in complete
        for sooner, later in zip(answer.times, answer.times[1:], strict=False)
    ]
    prompt = sum(answer.prompt_tokens or options.prompt_tokens for answer in complete)
    produced = sum(answer.answer_tokens or len(answer.times) for answer in complete)
    return {
        "clients": options.clients,
        "complete": len(complete),
        "errors": sorted({answer.error for answer in answers if answer.error}),
        "seconds": round(seconds, 3),
        "answer_tokens": produced,
        "prompt_tokens": prompt,
        "answer_tokens_per_second": round(produced / seconds, 3),
        "total_tokens_per_second": round((produced + prompt) / seconds, 3),
        "ttft_seconds": {"p50": percentile(first, 0.5), "p99": percentile(first, 0.99)},
        "itl_seconds": {"p50": percentile(gaps, 0.5), "p99": percentile(gaps, 0.99)},
    }


def print_summary(summary: dict) -> None:
    ttft, itl = summary["ttft_seconds"], summary["itl_seconds"]
    print(
        f"{summary['complete']} of {summary['clients']} answers in {summary['seconds']:.1f} s: "
        f"{summary['answer_tokens_per_second']:.1f} answer tokens/s, "
        f"{summary['total_tokens_per_second']:.1f} with prompts; "
        f"first token {ttft['p50']:.2f} s (p99 {ttft['p99']:.2f}), "
        f"between tokens {itl['p50'] * 1e3:.0f} ms (p99 {itl['p99'] * 1e3:.0f})"
    )
    for error in summary["errors"]:
        print(f"  failed: {error}", file=sys.stderr)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("url")
    arguments.add_argument("--clients", type=int, default=8)
    arguments.add_argument("--prompt-tokens", type=int, default=200)
    arguments.add_argument("--answer-tokens", type=int, default=64)
    arguments.add_argument("--vocabulary", type=int, default=4096, help="token ids are below this")
    arguments.add_argument("--words", action="store_true", help="send text instead of token ids")
    arguments.add_argument("--rounds", type=int, default=1)
    arguments.add_argument("--model", help="the served model's name; else the first of /v1/models")
    arguments.add_argument("--api-key", default="")
    arguments.add_argument("--timeout", type=float, default=3600.0)
    arguments.add_argument("--json", action="store_true")
    options = arguments.parse_args()
    options.model = options.model or first_model(options)
    summaries = []
    for number in range(options.rounds):
        answers, seconds = run_round(options, number)
        summaries.append(summarize(options, answers, seconds))
        if not options.json:
            print_summary(summaries[-1])
    if options.json:
        print(json.dumps(summaries, indent=1))
    elif options.rounds > 1:
        totals = [summary["total_tokens_per_second"] for summary in summaries]
        print(f"median of {options.rounds} rounds: {statistics.median(totals):.1f} tokens/s with prompts")
    if any(summary["complete"] < options.clients for summary in summaries):
        sys.exit(1)


if __name__ == "__main__":
    main()
