"""The life of the server: clients that leave, draining, idling, health, addresses."""

import concurrent.futures
import os
import re
import socket
import time

import httpx
import pytest
from openai import OpenAI
from rapt_process import API_KEY, RaptServer

QUESTION = [{"role": "user", "content": "Hi"}]


def test_half_of_32_clients_leave_and_all_blocks_come_back(server: RaptServer):
    arguments = {
        "model": "demo",
        "prompt": "The quiet cat",
        "max_tokens": 50,
        "stream": True,
        "extra_body": {"ignore_eos": True},
    }

    def run(client_idx: int) -> int:
        """The number of chunks that came."""
        with server.openai() as client:
            leaves = client_idx % 2 == 0
            num_chunks = 0
            stream = client.completions.create(n=1 + client_idx % 3, **arguments)
            for _ in stream:
                num_chunks += 1
                if leaves and num_chunks > client_idx:
                    stream.close()
                    return num_chunks
            return num_chunks

    disconnects = server.metric("rapt:client_disconnects_total")
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        counts = list(pool.map(run, range(32)))
    assert all(count > 0 for count in counts)
    server.wait_for_metric("vllm:num_requests_running", 0)
    server.wait_for_metric("rapt:kv_blocks_used", 0)
    assert server.metric("vllm:kv_cache_usage_perc") == 0
    assert server.metric("rapt:client_disconnects_total") > disconnects


def test_a_client_that_leaves_an_unstreamed_request_stops_it(server: RaptServer):
    body = b'{"model":"demo","prompt":"The","max_tokens":4000,"ignore_eos":true}'
    aborted = server.metric("vllm:request_success_total", finished_reason="abort")
    head = (
        f"POST /v1/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {API_KEY}\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(head.encode() + body)
        server.wait_for_metric("vllm:num_requests_running", 1)
    server.wait_for_metric("vllm:num_requests_running", 0)
    server.wait_for_metric("rapt:kv_blocks_used", 0)
    assert server.metric("vllm:request_success_total", finished_reason="abort") == aborted + 1


def test_answers_are_the_same_at_any_pace(start_server):
    prompts = [[(7 * idx + position) % 200 for position in range(60 + 150 * idx)] for idx in range(6)]

    def answers(*flags: str) -> list[str]:
        server = start_server(*flags)

        def ask(prompt: list[int]) -> str:
            with server.openai() as client:
                stream = client.completions.create(
                    model="demo",
                    prompt=prompt,
                    max_tokens=40,
                    temperature=0,
                    stream=True,
                    extra_body={"ignore_eos": True},
                )
                return "".join(chunk.choices[0].text for chunk in stream if chunk.choices)

        with concurrent.futures.ThreadPoolExecutor(len(prompts)) as pool:
            texts = list(pool.map(ask, prompts))
        assert 0 < server.metric("rapt:max_step_tokens") <= 512
        return texts

    whole = answers("--inter-token-target-ms", "0")
    assert len(set(whole)) == len(prompts)
    assert answers("--inter-token-target-ms", "1") == whole
    assert answers() == whole


def test_sigterm_drains_and_exits_0(start_server):
    server = start_server()
    with server.openai() as client:
        stream = client.completions.create(
            model="demo",
            prompt="The",
            max_tokens=150,
            stream=True,
            extra_body={"ignore_eos": True},
        )
        chunks = iter(stream)
        next(chunks)
        server.terminate()
        rest = list(chunks)
        assert rest[-1].choices[0].finish_reason == "length"
    assert server.stop() == 0, server.log()
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.url + "/health")


def test_shutdown_timeout_cuts_what_is_left_with_an_error(start_server):
    server = start_server("--shutdown-timeout", "0")
    with server.openai() as client:
        stream = client.completions.create(
            model="demo",
            prompt="The",
            max_tokens=100_000,
            stream=True,
            extra_body={"ignore_eos": True},
        )
        chunks = iter(stream)
        next(chunks)
        server.terminate()
        with pytest.raises(Exception, match="shutting down|stopped working"):
            list(chunks)
    assert server.stop() == 0, server.log()


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_idle_server_uses_less_than_one_percent_of_a_core(server: RaptServer):
    server.wait_for_metric("vllm:num_requests_running", 0)
    seconds = 4
    # A connection that is kept alive must cost nothing either.
    with httpx.Client(base_url=server.url) as http:
        assert http.get("/health").status_code == 200
        before = cpu_seconds(server.process.pid)
        time.sleep(seconds)
        used = cpu_seconds(server.process.pid) - before
    assert used <= 0.01 * seconds


def test_ipv6_loopback(server: RaptServer):
    if "url=http://[::1]:" not in server.log():
        pytest.skip("no IPv6 loopback here")
    assert httpx.get(f"http://[::1]:{server.port}/health").status_code == 200


def test_models_and_version(server: RaptServer, client: OpenAI):
    listed = client.models.list().data
    assert [model.id for model in listed] == ["demo"]
    assert client.models.retrieve("demo").max_model_len == 4096
    assert re.search(r"\d+\.\d+\.\d+", server.get("/version").json()["version"])


def test_only_health_works_without_a_key(server: RaptServer):
    for path in ("/health", "/ping"):
        assert httpx.get(server.url + path).status_code == 200
    for path in ("/metrics", "/version", "/v1/models", "/nothing"):
        assert httpx.get(server.url + path).status_code == 401


def test_metrics_count_tokens_and_times(server: RaptServer, client: OpenAI):
    names = ("vllm:prompt_tokens_total", "vllm:generation_tokens_total")
    before = [server.metric(name) for name in names]
    first_tokens = server.metric("vllm:time_to_first_token_seconds_count")
    answer = client.completions.create(
        model="demo", prompt=[1, 2, 3], max_tokens=5, extra_body={"ignore_eos": True}
    )
    assert answer.usage.completion_tokens == 5
    server.wait_for_metric("vllm:num_requests_running", 0)
    after = [server.metric(name) for name in names]
    assert [b - a for a, b in zip(before, after, strict=True)] == [3, 5]
    assert server.metric("vllm:time_to_first_token_seconds_count") == first_tokens + 1
    assert server.metric("vllm:inter_token_latency_seconds_count") >= 4
    assert server.metric("vllm:request_success_total", finished_reason="length") >= 1


def test_one_connection_serves_many_requests(server: RaptServer):
    headers = {"authorization": f"Bearer {API_KEY}", "x-request-id": "my-id"}
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        request = "GET /v1/models HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in headers.items()
        )
        connection.sendall((request + "\r\n").encode() * 3)
        received = b""
        while received.count(b'"object":"list"') < 3:
            piece = connection.recv(65536)
            assert piece
            received += piece
    assert received.count(b"HTTP/1.1 200 OK") == 3
    assert received.count(b"x-request-id: my-id") == 3
