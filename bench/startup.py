#!/usr/bin/env python3
"""How long `rapt serve MODEL` takes to be ready, how much memory it holds, how long an answer takes.

    python3 bench/startup.py MODEL [--binary build/release/rapt] [--prompt TEXT] [--max-tokens 16]

Needs Python's standard library only. Time to ready is from the start of the process to the first
answered /health. Warm the page cache first: cat MODEL/*.safetensors > /dev/null
"""

import argparse
import json
import re
import subprocess
import time
import urllib.request
from pathlib import Path


def memory_gb(pid: int) -> dict[str, float]:
    fields = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    names = ("VmRSS", "RssAnon", "RssFile")
    return {name: round(int(fields[name].split()[0]) * 1024 / 1e9, 2) for name in names}


def post(url: str, body: dict) -> dict:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=3600) as answer:
        return json.load(answer)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("model")
    arguments.add_argument("--binary", default="build/release/rapt")
    arguments.add_argument("--prompt", default="What is 2 + 2?")
    arguments.add_argument("--max-tokens", type=int, default=16)
    arguments.add_argument("--repeat", type=int, default=3)
    options = arguments.parse_args()

    model = Path(options.model)
    files = [model] if model.is_file() else model.glob("*.safetensors")
    size = sum(file.stat().st_size for file in files) / 1e9
    print(f"weights {size:.2f} GB")
    started = time.monotonic()
    server = subprocess.Popen(
        [options.binary, "serve", options.model, "--port", "0", "--served-model-name", "m"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        url = next(
            match[1]
            for line in server.stderr
            if (match := re.search(r"listening url=(http://127\.0\.0\.1:\d+)", line))
        )
        urllib.request.urlopen(url + "/health").read()
        print(f"ready after {time.monotonic() - started:.2f} s, memory in GB {memory_gb(server.pid)}")
        body = {
            "model": "m",
            "messages": [{"role": "user", "content": options.prompt}],
            "max_tokens": options.max_tokens,
            "temperature": 0,
        }
        for max_tokens in [1, options.max_tokens] * options.repeat:
            begin = time.monotonic()
            usage = post(url + "/v1/chat/completions", {**body, "max_tokens": max_tokens})["usage"]
            print(
                f"{usage['prompt_tokens']} tokens in, {usage['completion_tokens']} out: "
                f"{time.monotonic() - begin:.2f} s, memory in GB {memory_gb(server.pid)}"
            )
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
