"""The choice of the attention backend, as a user meets it: flags, variables, commands, the server."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120
SLOTS = {"prefill_full", "prefill_sliding", "decode_full", "decode_sliding"}
OURS = ["cpu-ref", "cpu-flash", "cuda-ref", "cuda-mma", "cuda-hopper", "cudnn"]
PRESET = "openai/gpt-oss-20b"


def rapt(binary: Path, *args: object, env: dict[str, str] | None = None):
    return subprocess.run(
        [binary, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, **(env or {})},
    )


def output(result) -> str:
    assert result.returncode == 0, result.stderr
    return result.stdout


def refusal(result) -> str:
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if line.startswith("rapt: ")]
    assert len(lines) == 1, result.stderr
    return lines[0]


@pytest.fixture
def weightless(checkpoint: Path, tmp_path: Path) -> Path:
    """A checkpoint whose weight file cannot be opened without being noticed: a pipe that nobody
    writes to, so that opening it never returns."""
    folder = tmp_path / "weightless"
    folder.mkdir()
    for name in ("config.json", "generation_config.json", "tokenizer.json"):
        if (checkpoint / name).exists():
            (folder / name).write_bytes((checkpoint / name).read_bytes())
    os.mkfifo(folder / "model.safetensors")
    return folder


# --- names of other engines in the environment


@pytest.mark.parametrize(
    "name",
    ["TRITON_ATTN_VLLM_V1", "TRITON_ATTN", "FLASH_ATTN", "FLASHINFER", "XFORMERS"],
)
def test_vllm_names_in_the_environment_start(start_server, name: str):
    server = start_server(env={"VLLM_ATTENTION_BACKEND": name})
    about = [line for line in server.log().splitlines() if "VLLM_ATTENTION_BACKEND" in line]
    assert len(about) == 1, server.log()
    assert name in about[0]
    plan = server.get("/v1/engine/attention").json()
    (used,) = {slot["backend"] for slot in plan["slots"].values()}
    assert used in about[0], "what runs instead"
    assert "remove" in about[0], "that the variable can go"
    with server.openai() as client:
        answer = client.completions.create(model="demo", prompt="The", max_tokens=3)
    assert answer.usage.completion_tokens > 0


@pytest.mark.parametrize(
    "variables",
    [
        {"VLLM_ATTENTION_BACKEND": "NO_SUCH_THING"},
        {"VLLM_ATTENTION_BACKEND": "FLASHMLA"},
        {"VLLM_ATTENTION_BACKEND": "ROCM_AITER_FA"},
        {"VLLM_ATTENTION_BACKEND": "CUSTOM"},
        {"VLLM_ATTENTION_BACKEND": "x" * 3000},
        {"RAPT_ATTENTION_BACKEND": "cpu-flsh"},
        {"RAPT_ATTENTION_BACKEND": "cuda-hopper"},
        {"VLLM_FLASH_ATTN_VERSION": "7"},
        {"VLLM_USE_TRTLLM_ATTENTION": "maybe"},
        {"OLLAMA_FLASH_ATTENTION": "perhaps"},
        {"VLLM_KV_CACHE_LAYOUT": "HND", "VLLM_BATCH_INVARIANT": "1"},
        {"VLLM_ROCM_USE_AITER": "1", "VLLM_V1_USE_PREFILL_DECODE_ATTENTION": "1"},
        {"VLLM_USE_TRITON_FLASH_ATTN": "1", "LLAMA_ARG_FLASH_ATTN": "on"},
    ],
    ids=lambda variables: ",".join(variables)[:60],
)
def test_no_variable_stops_a_run(binary: Path, checkpoint: Path, variables: dict[str, str]):
    args = ("run", checkpoint, "hi", "--max-tokens", "1", "--log-level", "info")
    result = rapt(binary, *args, env=variables)
    assert result.returncode == 0, result.stderr
    for variable in variables:
        about = [line for line in result.stderr.splitlines() if variable in line]
        assert about, f"{variable} is explained:\n{result.stderr}"


# --- names that were typed


def test_a_typed_wrong_name_ends_before_a_weight_file_is_opened(binary: Path, weightless: Path):
    for command in (["serve"], ["run", "--", "hi"], ["inspect"]):
        name, *rest = command
        start = time.monotonic()
        result = rapt(binary, name, "--attention-backend", "TRITON_ATN", weightless, *rest)
        assert time.monotonic() - start < 1
        sentence = refusal(result)
        assert "TRITON_ATN" in sentence
        assert "TRITON_ATTN" in sentence, "the likely name"
        assert "cpu-flash" in sentence and "cpu-ref" in sentence, "what works"
        assert "safetensors" not in sentence
    # With a right name the weights are what is wrong.
    assert "safetensors" in refusal(rapt(binary, "inspect", weightless))


@pytest.mark.parametrize(
    "name, words",
    [
        ("FLASHMLA", ["MLA", "DeepSeek", "grouped-query"]),
        ("cuda-hopper", ["cuda-hopper", "cpu-flash"]),
        ("ROCM_AITER_FA", ["AMD"]),
        ("NO_ATTENTION", ["NO_ATTENTION"]),
        ("prefill=cpu-flsh", ["cpu-flash"]),
        ("prefil=cpu-ref", ["prefill"]),
        ("decode=cudnn", ["cudnn"]),
    ],
)
def test_typed_names_that_cannot_run_say_what_would(
    binary: Path, weightless: Path, name: str, words: list[str]
):
    sentence = refusal(rapt(binary, "serve", weightless, "--attention-backend", name))
    for word in [*words, "cpu-ref" if "prefil=" not in name else "slot"]:
        assert word in sentence, sentence


def test_every_place_can_choose(binary: Path, checkpoint: Path, tmp_path: Path):
    def used(*args: object, **env: str) -> set[str]:
        report = json.loads(output(rapt(binary, "inspect", checkpoint, "--json", *args, env=env)))
        return {slot: part["backend"] for slot, part in report["attention"]["slots"].items()}

    automatic = used()
    reference = dict.fromkeys(SLOTS, "cpu-ref")
    assert used("--attention-backend", "cpu-ref") == reference
    assert used("--attention-backend", "eager") == reference
    assert used("-fa", "off") == reference
    assert used("-ac.backend", "cpu-ref") == reference
    assert used("--attention-config", '{"backend": "cpu-ref"}') == reference
    assert used(RAPT_ATTENTION_BACKEND="cpu-ref") == reference
    assert used(VLLM_ATTENTION_BACKEND="cpu-ref") == reference
    assert used(OLLAMA_FLASH_ATTENTION="0") == reference
    config = tmp_path / "rapt.yaml"
    config.write_text("attention-backend: cpu-ref\n")
    assert used("--config", config) == reference
    config.write_text("attention-config:\n  backend_per_kind: {sliding_window: cpu-ref}\n")
    assert used("--config", config) == {
        slot: "cpu-ref" if "sliding" in slot else backend for slot, backend in automatic.items()
    }
    assert used("--decode-attention-backend", "cpu-ref") == {
        slot: "cpu-ref" if "decode" in slot else backend for slot, backend in automatic.items()
    }
    assert used("--attention-backend", "auto", RAPT_ATTENTION_BACKEND="cpu-ref") == automatic


def test_policy_prefer_goes_on(binary: Path, checkpoint: Path):
    args = ("inspect", checkpoint, "--attention-backend", "FLASHMLA")
    assert "FLASHMLA" in refusal(rapt(binary, *args))
    result = rapt(binary, *args, "--attention-backend-policy", "prefer")
    assert result.returncode == 0 and "FLASHMLA" in result.stderr


@pytest.mark.parametrize(
    "flags",
    [
        ["--disable-hybrid-kv-cache-manager"],
        ["--disable-cascade-attn"],
        ["--kv-cache-dtype-skip-layers", "sliding_window"],
        ["-ac.mla_prefill_backend", "x"],
        ["--attention-config.disable_flashinfer_q_quantization", "true"],
    ],
    ids=lambda flags: flags[0],
)
def test_switches_of_other_engines_are_explained(binary: Path, checkpoint: Path, flags: list[str]):
    result = rapt(binary, "inspect", checkpoint, "--log-level", "info", *flags)
    assert result.returncode == 0, result.stderr
    name = flags[0].split(".")[-1].lstrip("-")
    assert sum(name in line for line in result.stderr.splitlines()) == 1, result.stderr


# --- commands


@pytest.mark.parametrize(
    "device, best, unbuilt",
    [
        ("sm80", "cuda-mma", ["cuda-ref", "cuda-mma"]),
        ("sm89", "cuda-mma", ["cuda-ref", "cuda-mma"]),
        ("sm90", "cuda-hopper", ["cuda-ref", "cuda-mma", "cuda-hopper"]),
        ("sm100", "cuda-mma", ["cuda-ref", "cuda-mma"]),
        ("sm120", "cuda-mma", ["cuda-ref", "cuda-mma"]),
    ],
)
@pytest.mark.parametrize("model", [PRESET, "openai/gpt-oss-120b"])
def test_list_ranks_what_a_gpu_would_run(binary, device, best, unbuilt, model):
    args = ("attention", "list", "--model", model, "--device", device)
    plan = json.loads(output(rapt(binary, *args, "--json", env={"HF_HOME": "/nowhere"})))
    assert {slot["backend"] for slot in plan["slots"].values()} == {best}
    rows = {row["name"]: row for row in plan["backends"]}
    assert set(rows) >= set(OURS)
    for name in unbuilt:
        assert rows[name]["built"] is False
    text = output(rapt(binary, *args))
    assert "chosen" in text and "not built" in text
    for name in OURS:
        assert name in text


def test_list_shows_this_machine(binary: Path, checkpoint: Path, weightless: Path):
    for model in (PRESET, checkpoint, weightless):
        text = output(rapt(binary, "attention", "list", "--model", model))
        assert "cpu-ref" in text and "chosen" in text
    plan = json.loads(output(rapt(binary, "attention", "list", "--model", checkpoint, "--json")))
    assert set(plan["slots"]) == SLOTS
    assert plan["device"]["kind"] == "cpu"
    assert plan["model"]["window"] > 0 and plan["model"]["sinks"] is True
    refused = refusal(rapt(binary, "attention", "list", "--device", "sm9"))
    assert "sm90" in refused
    assert "gpt-oss" in refusal(rapt(binary, "attention", "list", "--model", "gpt-oss-21b"))


# What the names did in vLLM 0.11.0, a word of each symptom.
ON_0_11_0 = {
    "FLASH_ATTN": {"sm80": "Sinks are only supported in FlashAttention 3", "sm90": "FlashAttention 3"},
    "FLASHINFER": {"sm90": "NotImplementedError", "sm100": "trtllm"},
    "XFORMERS": {"sm80": "TypeError", "sm90": "TypeError"},
    "TRITON_ATTN": {"sm80": "Triton", "sm120": "Triton"},
    "TRITON_ATTN_VLLM_V1": {"sm80": "Invalid value"},
    "unset": {"sm80": "TRITON_ATTN", "sm90": "FLASH_ATTN", "sm100": "FLASHINFER"},
}


@pytest.mark.parametrize("name", ON_0_11_0)
def test_explain_answers_the_original_question(binary: Path, name: str):
    args = ("attention", "explain", name, "--for", "vllm@0.11.0")
    text = output(rapt(binary, *args))
    assert "0.11.0" in text
    for device, words in ON_0_11_0[name].items():
        there = output(rapt(binary, *args, "--device", device))
        assert words in there, there
    report = json.loads(output(rapt(binary, *args, "--json")))
    assert report["rows"], "an answer for each generation"


def test_explain_knows_our_names_and_says_what_is_unknown(binary: Path):
    assert "cpu-flash" in output(rapt(binary, "attention", "explain", "cpu-flash"))
    assert "TRITON_ATTN" in refusal(rapt(binary, "attention", "explain", "TRITON_ATN"))
    assert "vllm" in refusal(
        rapt(binary, "attention", "explain", "XFORMERS", "--for", "vlm@0.11.0")
    )


def test_help_tells_of_the_flags(binary: Path):
    text = output(rapt(binary, "attention", "--help"))
    for word in ("list", "explain", "selftest", "bench", "--device", "--for", "--model"):
        assert word in text
    assert "--attention-backend" in output(rapt(binary, "serve", "--help"))


def test_selftest_checks_every_level(binary: Path):
    report = json.loads(output(rapt(binary, "attention", "selftest", "--json")))
    assert report["ok"] is True
    assert {"scalar"} <= {row["level"] for row in report["checks"]}
    for row in report["checks"]:
        assert row["passed"] == row["cases"] > 0
        assert row["max_error"] <= row["limit"]
    text = output(rapt(binary, "selftest"))
    assert "scalar" in text


def test_bench_keeps_what_later_choices_use(binary: Path, tmp_path: Path):
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    args = ("attention", "list", "--model", tmp_path, "--json")
    shape = {
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 32,
        "intermediate_size": 32,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "num_hidden_layers": 1,
        "vocab_size": 32,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5,
    }
    (tmp_path / "config.json").write_text(json.dumps(shape))

    def rows():
        plan = json.loads(output(rapt(binary, *args, env=cache)))
        return {row["name"]: row for row in plan["backends"] if row["built"]}

    assert all(row["estimate"] for row in rows().values())
    made = json.loads(
        output(rapt(binary, "attention", "bench", "--model", tmp_path, "--json", env=cache))
    )
    assert made == json.loads((tmp_path / "rapt" / "attention.json").read_text())
    assert not any(row["estimate"] for row in rows().values())
    (tmp_path / "rapt" / "attention.json").write_text("{")
    assert all(row["estimate"] for row in rows().values()), "a damaged file is left aside"
    assert "sm90" in refusal(rapt(binary, "attention", "bench", "--device", "sm90", env=cache))


# --- the server


def test_the_server_tells_what_runs(server):
    plan = server.get("/v1/engine/attention").json()
    assert set(plan["slots"]) == SLOTS
    for slot, part in plan["slots"].items():
        assert part["origin"] == "auto"
        labels = {"slot": slot, "backend": part["backend"], "origin": "auto"}
        assert server.metric("attention_backend_info", **labels) == 1
    assert httpx.get(server.url + "/v1/engine/attention").status_code == 401
    lines = [line for line in server.log().splitlines() if "attention: " in line]
    assert len(lines) == 1, server.log()
    assert plan["slots"]["decode_full"]["backend"] in lines[0] and "(auto)" in lines[0]


def test_the_metric_says_who_chose(start_server):
    server = start_server("--decode-attention-backend", "cpu-ref")
    labels = {"slot": "decode_full", "backend": "cpu-ref", "origin": "command line"}
    assert server.metric("attention_backend_info", **labels) == 1


LOOPBACK_ONLY = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_start_needs_no_network(start_server):
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode != 0:
        pytest.skip("this system gives no network namespaces")
    server = start_server(wrapper=["unshare", "-rn", sys.executable, "-c", LOOPBACK_ONLY])
    assert server.url
    assert server.stop() == 0, server.log()
