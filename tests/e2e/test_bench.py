"""The measuring tools: that they run and read each other. Speeds are nobody's business here."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import peer_output  # noqa: E402

TIMEOUT_S = 300
FEW_BYTES = ["--kv-cache-memory-bytes", "64MiB", "--threads", "2"]


def run(*command: object) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, timeout=TIMEOUT_S, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_latency_reports_every_test(binary: Path, checkpoint: Path) -> None:
    flags = ["--prompt-tokens", "40,0", "--depths", "8,30", "--sequences", "1,3", "--decode-tokens", 5]
    command = [binary, "bench", "latency", checkpoint, *flags, "--repeat", 2, *FEW_BYTES]
    report = json.loads(run(*command, "--json"))
    prefill, *decodes = report["tests"]
    assert (prefill["test"], prefill["prompt_tokens"], len(prefill["seconds"])) == ("prefill", 40, 2)
    assert [(row["depth"], row["sequences"]) for row in decodes] == [(8, 1), (8, 3), (30, 1), (30, 3)]
    for row in decodes:
        assert row["step_seconds_best"] > 0
        assert row["bytes_per_step"] > 0
        assert len(row["round_medians"]) == 2
    speeds = peer_output.parse_rapt(report)
    assert set(speeds) >= {("prefill", 40), ("decode", 1, 8), ("decode", 3, 30)}
    assert "prefill 40" in run(*command)


def test_kernels_reports_every_matrix(binary: Path, checkpoint: Path) -> None:
    command = [binary, "bench", "kernels", checkpoint, "--sequences", "1,5", "--repeat", 1, *FEW_BYTES]
    report = json.loads(run(*command, "--json"))
    names = {row["matrix"] for row in report["matrices"]}
    assert names == {
        *(f"attention.{name}" for name in ("q", "k", "v", "out")),
        *(f"moe.{name}" for name in ("router", "gate_up", "down")),
        "lm_head",
    }
    for row in report["matrices"]:
        assert row["rows"] in (1, 5)
        assert row["gop_per_second"] > 0
        assert row["share_of_peak"] > 0


LLAMA_BENCH_JSON = """ggml: some line before
[
  {"n_prompt": 512, "n_gen": 0, "n_depth": 0, "avg_ts": 84.9, "samples_ts": [84.0, 85.8]},
  {"n_prompt": 0, "n_gen": 32, "n_depth": 4096, "avg_ts": 7.5, "samples_ts": [7.5]},
  {"n_prompt": 0, "n_gen": 32, "avg_ts": 11.0}
]
"""
LLAMA_BENCH_TABLE = """
| model | size | params | backend | threads | fa | test | t/s |
| ----- | ---: | -----: | ------- | ------: | -: | ---: | --: |
| gpt-oss 20B MXFP4 | 11.27 GiB | 20.91 B | CPU | 2 | 1 | pp512 | 16.21 ± 0.85 |
| gpt-oss 20B MXFP4 | 11.27 GiB | 20.91 B | CPU | 2 | 1 | tg32 @ d4096 | 7.50 ± 0.10 |
| gpt-oss 20B MXFP4 | 11.27 GiB | 20.91 B | CPU | 2 | 1 | tg32 | 11.00 ± 0.10 |
"""
BATCHED_TABLE = """main: n_kv_max = 8192
|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |
|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|
|    32 |     32 |    1 |     64 |    3.168 |    10.10 |    3.855 |     8.30 |    7.024 |     9.11 |
|    32 |     32 |    8 |    512 |   15.610 |    16.40 |   23.704 |    10.80 |   39.313 |    13.02 |
"""
BATCHED_JSONL = """
{"n_kv_max": 8192, "pp": 32, "tg": 32, "pl": 16, "n_kv": 1024, "speed_pp": 16.3, "speed_tg": 12.6}
"""


@pytest.mark.parametrize(
    "text, expected",
    [
        (
            LLAMA_BENCH_JSON,
            {("prefill", 512): [84.0, 85.8], ("decode", 1, 4096): [7.5], ("decode", 1, 0): [11.0]},
        ),
        (
            LLAMA_BENCH_TABLE,
            {("prefill", 512): [16.21], ("decode", 1, 4096): [7.5], ("decode", 1, 0): [11.0]},
        ),
        (
            BATCHED_TABLE,
            {("prefill", 32): [10.1], ("decode", 1, 32): [8.3], ("decode", 8, 32): [10.8]},
        ),
        (BATCHED_JSONL, {("decode", 16, 32): [12.6]}),
        ("an error message\n", {}),
        ("[\nnot json", {}),
    ],
)
def test_peers_outputs_are_read(text: str, expected: dict) -> None:
    assert peer_output.parse(text) == expected


def test_compare_sets_peers_beside_rapt(binary: Path, checkpoint: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.txt"
    table.write_text(BATCHED_TABLE, encoding="utf-8")
    samples = tmp_path / "samples.json"
    output = run(
        *[sys.executable, ROOT / "bench" / "compare", checkpoint, "--rapt", binary, "--rounds", 2],
        *["--peer", f"other=cat {table}", "--rapt-flags", " ".join(FEW_BYTES)],
        *["--prompt-tokens", 32, "--depths", 16, "--sequences", "1,8", "--decode-tokens", 4],
        *["--out", samples],
    )
    lines = [line for line in output.splitlines() if line.strip().startswith("other")]
    assert len(lines) == 3
    assert all(line.endswith(" x") for line in lines)
    assert len(json.loads(samples.read_text())["rapt"][0]["tokens_per_second"]) == 2


def test_load_counts_every_token(start_server: Callable) -> None:
    server = start_server()
    tool = ROOT / "bench" / "serve_load.py"
    flags = ["--clients", 3, "--prompt-tokens", 20, "--answer-tokens", 6, "--rounds", 2, "--json"]
    summaries = json.loads(run(sys.executable, tool, server.url, *flags))
    assert len(summaries) == 2
    for summary in summaries:
        assert (summary["complete"], summary["errors"]) == (3, [])
        assert summary["answer_tokens"] == 18
        assert summary["prompt_tokens"] == 60
        assert summary["total_tokens_per_second"] > summary["answer_tokens_per_second"] > 0
