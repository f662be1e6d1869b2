"""rapt eval-quality, as a person runs it."""

import json
import subprocess
from pathlib import Path

import pytest

TEXT = "The sea was calm, and the ships lay at anchor. Nobody spoke until the sun had set. " * 3


def rapt(binary: Path, *args: object, **options) -> subprocess.CompletedProcess:
    command = [binary, "eval-quality", *map(str, args)]
    return subprocess.run(command, capture_output=True, timeout=120, **options)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_prints_a_table(binary: Path, checkpoint: Path, text: Path) -> None:
    flags = ("--max-tokens", 30, "--linear-mode", "i8,f32", "--kv-cache-dtype", "bf16")
    result = rapt(binary, checkpoint, "--text", text, *flags)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.decode().splitlines()
    assert lines[1].startswith(f"text       {text}: 30 tokens in windows of 512, one every 512; 29 ")
    assert "fast kernels: perplexity " in lines[2]
    assert lines[4].split()[:3] == ["linear", "KV", "perplexity"]
    assert [line.split()[:2] for line in lines[5:]] == [["i8", "bf16"], ["f32", "bf16"]]
    assert result.stderr == b"", "no progress where nobody looks"


def test_json_has_all_figures(binary: Path, checkpoint: Path, text: Path) -> None:
    flags = ("--max-tokens", 24, "--context-length", 16, "--stride", 8, "--json")
    chosen = ("--linear-mode", "f32,i16", "--kv-cache-dtype", "f32,fp8")
    result = rapt(binary, checkpoint, "--text", text, *flags, *chosen)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert (report["tokens"], report["windows"], report["predictions"]) == (24, 2, 23)
    assert (report["context_length"], report["stride"]) == (16, 8)
    assert report["weight_format"] == "mxfp4"
    same, i16, fp8, _ = report["settings"]
    assert (same["linear_mode"], same["kv_cache_dtype"]) == ("f32", "f32")
    assert same["perplexity"] == report["reference"]["perplexity"] > 1
    assert same["kl_max"] == 0 and same["same_best"] == 1
    assert (i16["linear_mode"], fp8["kv_cache_dtype"]) == ("i16", "fp8")
    assert 0 < i16["kl_median"] <= i16["kl_99_percent"] <= i16["kl_max"]
    assert 0 < i16["logits_error"] < fp8["logits_error"] < 1


def test_a_pipe_will_do_and_gives_the_same(binary: Path, checkpoint: Path, text: Path) -> None:
    flags = ("--max-tokens", 20, "--linear-mode", "i16", "--kv-cache-dtype", "bf16", "--json")
    first = json.loads(rapt(binary, checkpoint, "--text", text, *flags).stdout)
    piped = rapt(binary, checkpoint, "--text", "/dev/stdin", *flags, "--threads", 1, input=TEXT.encode())
    second = json.loads(piped.stdout)
    assert first["settings"] == second["settings"], "on one thread, too"


@pytest.mark.parametrize(
    "flags, words",
    [
        (["--text", "no-such-file"], "no-such-file"),
        (["--text", "EMPTY"], "at least 2 are needed"),
        (["--text", "TEXT", "--context-length", "1m"], "--context-length is 1000000, but the model"),
        (["--text", "TEXT", "--linear-mode", "i4"], '"i4" is none of i16, i8 and f32'),
        ([], "--text FILE or --token-ids-file FILE"),
    ],
)
def test_says_what_is_wrong(
    binary: Path, checkpoint: Path, text: Path, tmp_path: Path, flags: list[str], words: str
) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    named = {"TEXT": text, "EMPTY": empty}
    result = rapt(binary, checkpoint, *(named.get(flag, flag) for flag in flags))
    assert result.returncode == 2
    assert result.stdout == b""
    assert result.stderr.decode().count("\n") == 1
    assert words in result.stderr.decode()
