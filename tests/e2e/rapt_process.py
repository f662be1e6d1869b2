"""Server processes for a test: each starts on a free port and is stopped at the end."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections import deque
from pathlib import Path

import httpx
from openai import OpenAI

_LISTENING = re.compile(r"\blistening url=(http://127\.0\.0\.1:(\d+))")
_START_TIMEOUT_S = 120
_STOP_TIMEOUT_S = 60

API_KEY = "test-key"


class ServerProcess:
    """One process. Its log is kept, and shown where a test needs to say what went wrong."""

    def __init__(
        self,
        command: list[str | Path],
        stdin=None,
        stdout=subprocess.DEVNULL,
        env: dict[str, str] | None = None,
    ):
        self._log: deque[str] = deque(maxlen=2000)
        self._listening = threading.Event()
        self.url = ""
        self.port = 0
        self.process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        if not self._listening.wait(_START_TIMEOUT_S) or not self.url:
            self.stop()
            raise RuntimeError(f"the server did not start:\n{self.log()}")

    def _read_log(self) -> None:
        for line in self.process.stderr:
            self._log.append(line)
            match = _LISTENING.search(line)
            if match and not self.url:
                self.url, self.port = match[1], int(match[2])
                self._listening.set()
        self._listening.set()  # the process has ended

    def log(self) -> str:
        return "".join(self._log)

    def openai(self, **options) -> OpenAI:
        """OpenAI's client without retries: a test wants to see each error."""
        options = {"api_key": API_KEY, "max_retries": 0, "timeout": 120, **options}
        return OpenAI(base_url=f"{self.url}/v1", **options)

    def get(self, path: str) -> httpx.Response:
        headers = {"authorization": f"Bearer {API_KEY}"}
        return httpx.get(self.url + path, headers=headers, timeout=60)

    def metric(self, name: str, **labels: str) -> float:
        """The value of one metric, summed over the labels that are not given."""
        total, found = 0.0, False
        for line in self.get("/metrics").text.splitlines():
            match = re.match(r"([^#{ ]+)(?:\{(.*)\})? (\S+)$", line)
            if not match or match[1] != name:
                continue
            have = dict(re.findall(r'(\w+)="([^"]*)"', match[2] or ""))
            if all(have.get(key) == value for key, value in labels.items()):
                total, found = total + float(match[3]), True
        if not found:
            raise KeyError(name)
        return total

    def wait_for_metric(self, name: str, value: float, timeout_s: float = 60) -> None:
        deadline = time.monotonic() + timeout_s
        while (now := self.metric(name)) != value:
            if time.monotonic() > deadline:
                raise AssertionError(f"{name} is {now}, not {value}\n{self.log()}")
            time.sleep(0.02)

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def stop(self) -> int:
        """Ends the process if it still runs; its exit code."""
        if self.process.poll() is None:
            self.terminate()
        try:
            return self.process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the server did not end on SIGTERM:\n{self.log()}") from None
        finally:
            self._reader.join(_STOP_TIMEOUT_S)


class RaptServer(ServerProcess):
    """`rapt serve` with a checkpoint, and with `env` added to the environment."""

    def __init__(
        self,
        binary: Path,
        model: Path,
        *flags: str,
        env: dict[str, str] | None = None,
        wrapper: list[str] | None = None,
    ):
        command = [binary, "serve", model, "--port", "0", "--served-model-name", "demo", *flags]
        super().__init__([*(wrapper or []), *command], env=env)


class ScriptedServer(ServerProcess):
    """The same server over a model that says what a test wants (testing/scripted_server.cpp)."""

    def __init__(
        self, binary: Path, api_key: str = API_KEY, port: int = 0, chat_template: str = ""
    ):
        command = [binary, api_key, str(port), chat_template]
        super().__init__(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def say(self, *outputs: str | list[int]) -> None:
        """What the next choices answer: gpt-oss's own output, special tokens spelled out."""
        for output in outputs:
            self._write(output)

    def allow_steps(self, num_steps: int | None) -> None:
        """Lets the engine make so many steps and then hold still; None: for good."""
        self._write({"steps": num_steps})

    def _write(self, line: str | list[int] | dict) -> None:
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        if not self.process.stdout.readline():
            raise RuntimeError(f"the scripted server has ended:\n{self.log()}")

    def stop(self) -> int:
        self.process.stdin.close()
        return self.process.wait(_STOP_TIMEOUT_S)
