"""The commands that need no server, as a person runs them."""

import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120


def rapt(binary: Path, *args: object, env: dict[str, str] | None = None, **kwargs):
    return subprocess.run(
        [binary, *map(str, args)],
        capture_output=True,
        timeout=TIMEOUT_S,
        env={**os.environ, **(env or {})},
        **kwargs,
    )


def refusal(result) -> str:
    """The one sentence of a command that the user got wrong."""
    assert result.returncode == 2, result.stderr
    assert result.stdout == b""
    lines = [line for line in result.stderr.decode().splitlines() if line.startswith("rapt: ")]
    assert len(lines) == 1, result.stderr
    return lines[0]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A small checkpoint of several shards, to be damaged."""
    out = tmp_path / "tiny"
    tool = ROOT / "tools" / "make_checkpoint.py"
    command = [sys.executable, tool, "--case", "window-5-shards", "--layout", "hf", "--out", out]
    subprocess.run(command, check=True, capture_output=True)
    return out


def shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors"))


def edit_header(path: Path, change) -> None:
    """Rewrites a safetensors file with its header changed and its data as they are."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])


def edit_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    config.update(changes)
    (folder / "config.json").write_text(json.dumps(config))


def test_inspect_tells_what_is_there(binary: Path, checkpoint: Path):
    text = rapt(binary, "inspect", checkpoint)
    assert text.returncode == 0
    for word in ("GptOssForCausalLM", "parameters", "KV cache bytes", "201088", "mxfp4"):
        assert word in text.stdout.decode()
    report = json.loads(rapt(binary, "inspect", checkpoint, "--json").stdout)
    assert report["architecture"] == "GptOssForCausalLM"
    assert report["num_parameters"] > report["num_active_parameters"] > 0
    assert report["weight_bytes"] < sum(f.stat().st_size for f in checkpoint.glob("*.safetensors"))


@pytest.fixture(scope="module")
def gguf_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy in one GGUF file, with its tokenizer."""
    out = tmp_path_factory.mktemp("gguf")
    tool = ROOT / "tools" / "make_checkpoint.py"
    subprocess.run([sys.executable, tool, "--preset", "demo-gguf", "--out", out], check=True)
    return out / "model.gguf"


def test_gguf_answers_as_safetensors_do(binary: Path, checkpoint: Path, gguf_model: Path):
    flags = ("Why is the sky blue?", "--seed", "5", "--kv-cache-memory-bytes", "64MiB")
    expected = rapt(binary, "run", checkpoint, *flags)
    assert expected.returncode == 0 and expected.stdout
    for model in (gguf_model, gguf_model.parent):
        assert rapt(binary, "run", model, *flags).stdout == expected.stdout


def test_gguf_brings_its_tokenizer(binary: Path, gguf_model: Path):
    text = "Größe 日本語 12345 <|start|>"
    expected = rapt(binary, "tokenize", "o200k_harmony", text)
    assert expected.returncode == 0
    assert rapt(binary, "tokenize", gguf_model, text).stdout == expected.stdout


def test_inspect_shows_types_and_metadata(binary: Path, gguf_model: Path):
    text = rapt(binary, "inspect", gguf_model).stdout.decode()
    for word in ("1, GGUF", "MXFP4", 'general.architecture: "gpt-oss"', "an array of 201088 strings"):
        assert word in text
    report = json.loads(rapt(binary, "inspect", gguf_model, "--json").stdout)
    assert report["container"] == "GGUF"
    assert report["tensor_types"]["MXFP4"] == 12
    assert report["metadata"]["gpt-oss.block_count"] == 4
    assert report["metadata"]["gpt-oss.attention.layer_norm_rms_epsilon"] == 1e-5


def test_damaged_gguf_is_refused_in_a_sentence(binary: Path, gguf_model: Path, tmp_path: Path):
    data = gguf_model.read_bytes()
    cut, other = tmp_path / "cut.gguf", tmp_path / "other.gguf"
    cut.write_bytes(data[: len(data) // 2])
    other.write_bytes(data.replace(b"gpt-oss", b"gpt-xyz", 1))
    for command in ("inspect", "serve"):
        assert "cut short or damaged" in refusal(rapt(binary, command, cut))
        assert "gpt-xyz" in refusal(rapt(binary, command, other))


@pytest.mark.parametrize("layout", ["hf", "original", "bf16", "gguf", "gguf-ollama"])
def test_layouts_give_the_same_logits(binary: Path, tmp_path: Path, layout: str):
    rows = []
    # The integer modes multiply decoded experts, as all floats, without them.
    flags = ("--linear-mode", "f32") if layout == "bf16" else ()
    for each in ("hf", layout):
        out = tmp_path / each
        tool = ROOT / "tools" / "make_checkpoint.py"
        command = [sys.executable, tool, "--case", "window-3", "--layout", each, "--out", out]
        subprocess.run(command, check=True, capture_output=True)
        prompt = ("--token-ids", "1,2,3,4,5,6,7", "--format", "npy")
        result = rapt(binary, "logits", out, *prompt, *flags)
        assert result.returncode == 0, result.stderr
        rows.append(result.stdout)
    assert rows[0] == rows[1], "same stored values, same bits"


def test_logits_formats_agree(binary: Path, tiny: Path):
    args = ("logits", tiny, "--token-ids", "5,6,7,8")
    every = json.loads(rapt(binary, *args).stdout)
    last = json.loads(rapt(binary, *args, "--positions", "last").stdout)
    assert len(every) == 4
    assert last == every[-1:]
    npy = rapt(binary, *args, "--format", "npy").stdout
    path = tiny / "logits.npy"
    path.write_bytes(npy)
    assert np.array_equal(np.load(path), np.array(every, dtype=np.float32))


def test_a_position_offset_changes_little(binary: Path, tiny: Path):
    """RoPE is relative: an offset on all positions moves rounding errors only."""
    args = ("logits", tiny, "--token-ids", "5,6,7,8,9,10", "--kv-cache-dtype", "f32")
    near = np.array(json.loads(rapt(binary, *args).stdout))
    far = np.array(json.loads(rapt(binary, *args, "--position-offset", "1000").stdout))
    assert not np.array_equal(near, far)
    assert np.linalg.norm(near - far) / np.linalg.norm(near) < 1e-4


def test_run_answers_and_repeats(binary: Path, checkpoint: Path):
    args = ("run", checkpoint, "Hello", "--seed", "5", "--max-tokens", "30")
    first = rapt(binary, *args)
    assert first.returncode == 0, first.stderr
    assert first.stdout.strip()
    assert b"tokens/s, temperature 1\n" in first.stderr
    assert rapt(binary, *args).stdout == first.stdout


def test_a_template_is_told_the_effort(binary: Path, checkpoint: Path, tmp_path: Path):
    """Where it knows the word; else the user is told that it does nothing."""
    template = tmp_path / "t.jinja"
    template.write_text("{{ raise_exception('told ' ~ reasoning_effort | default('nothing')) }}")
    args = ("run", checkpoint, "Hello", "--chat-template", template, "--max-tokens", "1")
    assert "told nothing" in refusal(rapt(binary, *args))
    assert "told high" in refusal(rapt(binary, *args, "--reasoning-effort", "high"))
    template.write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    ignored = rapt(binary, *args, "--reasoning-effort", "high")
    assert ignored.returncode == 0
    assert b"--reasoning-effort does nothing" in ignored.stderr


def test_chat_keeps_the_conversation(binary: Path, checkpoint: Path):
    result = rapt(binary, "chat", checkpoint, "--seed", "5", input=b"Hello\nAnd again\n/exit\n")
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.decode().strip().splitlines()) >= 2
    assert result.stderr.count(b"tokens/s") == 2


def test_chat_at_a_terminal(binary: Path, checkpoint: Path):
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [binary, "chat", checkpoint, "--temperature", "0"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    os.write(main, b"Hello\n/exit\n")
    seen = b""
    while True:
        try:
            piece = os.read(main, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    assert process.wait(TIMEOUT_S) == 0, seen
    assert b"tokens/s" in seen


def test_configuration_precedence(binary: Path, tiny: Path, tmp_path: Path):
    def longest(*args: object, **env: str) -> int:
        result = rapt(binary, "inspect", tiny, "--json", *args, env=env)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)["max_model_len"]

    config = tmp_path / "rapt.yaml"
    config.write_text("max-model-len: 64\n")
    assert longest(RAPT_MAX_MODEL_LEN="32") == 32
    assert longest("--config", config, RAPT_MAX_MODEL_LEN="32") == 64
    assert longest("--config", config, "--max-model-len", 48, RAPT_MAX_MODEL_LEN="32") == 48


def test_a_name_is_looked_up_in_the_hugging_face_cache(binary: Path, tiny: Path, tmp_path: Path):
    home = tmp_path / "hf"
    missing = refusal(rapt(binary, "inspect", "someone/tiny", env={"HF_HOME": str(home)}))
    assert str(home) in missing and "hf download someone/tiny" in missing
    repo = home / "hub" / "models--someone--tiny"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text("abc123")
    shutil.copytree(tiny, repo / "snapshots" / "abc123")
    assert rapt(binary, "inspect", "someone/tiny", env={"HF_HOME": str(home)}).returncode == 0


def replace_by_loop(folder: Path) -> None:
    shard = shards(folder)[0]
    shard.unlink()
    shard.symlink_to(shard.name)


# Each damage, and words that the sentence about it must have.
DAMAGES = {
    "no such folder": (lambda d: shutil.rmtree(d), ["tiny"]),
    "empty folder": (lambda d: [f.unlink() for f in d.iterdir()], ["tiny"]),
    "no config": (lambda d: (d / "config.json").unlink(), ["config.json"]),
    "config is not JSON": (lambda d: (d / "config.json").write_text("{"), ["config.json", "JSON"]),
    "other architecture": (
        lambda d: edit_config(d, architectures=["FalconForCausalLM"]),
        ["FalconForCausalLM", "GptOssForCausalLM"],
    ),
    "wrong size": (lambda d: edit_config(d, hidden_size=32), ["[", "expected"]),
    "wrong type": (lambda d: edit_config(d, num_hidden_layers="three"), ["num_hidden_layers"]),
    "too many layers": (
        lambda d: edit_config(d, num_hidden_layers=5, layer_types=None),
        ["model.layers."],
    ),
    "too few layers": (
        lambda d: edit_config(d, num_hidden_layers=1, layer_types=None),
        ["model.layers."],
    ),
    "missing shard": (lambda d: shards(d)[1].unlink(), ["model-0000"]),
    "truncated shard": (
        lambda d: shards(d)[0].write_bytes(shards(d)[0].read_bytes()[:-100]),
        ["model-0000"],
    ),
    "shard of zeros": (lambda d: shards(d)[0].write_bytes(bytes(1000)), ["model-0000"]),
    "bad index": (lambda d: (d / "model.safetensors.index.json").write_text("[]"), ["index"]),
    "renamed tensor": (
        lambda d: edit_header(shards(d)[0], lambda h: h.update(other=h.pop(next(iter(h))))),
        ["model-0000"],
    ),
    "changed type": (
        lambda d: edit_header(
            shards(d)[0],
            lambda h: next(v for v in h.values() if v.get("dtype") == "BF16").update(dtype="F16"),
        ),
        [],
    ),
    "offset past the end": (
        lambda d: edit_header(
            shards(d)[0],
            lambda h: next(iter(h.values())).update(data_offsets=[0, 1 << 62]),
        ),
        ["model-0000"],
    ),
    "loop of links": (replace_by_loop, ["model-0000", "link"]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_checkpoints_get_one_sentence(binary: Path, tiny: Path, damage: str):
    change, words = DAMAGES[damage]
    change(tiny)
    if damage == "changed type":
        assert rapt(binary, "inspect", tiny).returncode == 0, "F16 is as good as BF16"
        return
    for command in ("inspect", "serve"):
        sentence = refusal(rapt(binary, command, tiny))
        for word in words:
            assert word in sentence, sentence


@pytest.mark.parametrize(
    "args, words",
    [
        (["serve"], ["MODEL"]),
        (["serv", "x"], ["serve"]),
        (["serve", "x", "--prot", "1"], ["--prot", "--port"]),
        (["serve", "x", "--port", "70000"], ["70000", "65535"]),
        (["serve", "x", "--max-model-len", "many"], ["many"]),
        (["logits", "x", "--token-ids", "1,two"], ["two"]),
        (["run", "x"], ["prompt"]),
    ],
)
def test_wrong_command_lines_get_one_sentence(binary: Path, args: list[str], words: list[str]):
    sentence = refusal(rapt(binary, *args))
    for word in words:
        assert word.lower() in sentence.lower(), sentence


@pytest.mark.parametrize("command", [["inspect"], ["run", "--", "hi"], ["logits", "--token-ids=1"]])
def test_a_full_disk_is_no_success(binary: Path, checkpoint: Path, command: list[str]):
    name, *rest = command
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            [binary, name, checkpoint, *rest],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=TIMEOUT_S,
            env={**os.environ, "RAPT_MAX_TOKENS": "5"},
        )
    assert result.returncode == 1
    assert b"standard output" in result.stderr


def test_endless_and_binary_files_are_refused(binary: Path, tiny: Path, tmp_path: Path):
    assert "64 MiB" in refusal(rapt(binary, "logits", tiny, "--token-ids-file", "/dev/zero"))
    binary_file = tmp_path / "ids"
    binary_file.write_bytes(b"\x1b[31m\x00")
    assert "\x1b" not in refusal(rapt(binary, "logits", tiny, "--token-ids-file", binary_file))


def test_ctrl_c_shows_in_the_exit_code(binary: Path, checkpoint: Path):
    process = subprocess.Popen(
        [binary, "run", checkpoint, "hi", "--ignore-eos", "--log-level", "info"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout.read(1), "an answer has begun"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130


def test_help_and_version(binary: Path):
    assert rapt(binary, "--version").stdout.startswith(b"rapt ")
    top = rapt(binary, "--help").stdout.decode()
    for command in ("serve", "run", "chat", "inspect", "logits"):
        assert command in top
        assert rapt(binary, command, "--help").returncode == 0


def test_token_ids_outside_the_vocabulary(binary: Path, tiny: Path):
    assert "100000" in refusal(rapt(binary, "logits", tiny, "--token-ids", "1,100000"))


def test_text_without_a_tokenizer(binary: Path, tiny: Path):
    assert "tokenizer" in refusal(rapt(binary, "run", tiny, "Hello"))
    assert "tokenizer" in refusal(rapt(binary, "chat", tiny))
