"""Models that are no golden cases: a toy for trying the server, and gpt-oss-20b at full size."""

from dataclasses import replace
from pathlib import Path

from . import configs, demo, full_size
from .writing import Storage, write_checkpoint, write_json


def _demo_gguf(out: Path, config_only: bool) -> None:
    """The demo with its tokenizer in one GGUF file."""
    write_checkpoint(demo.SPEC, "gguf", Storage(), out, config_only, demo.demo_tensors)


def _demo(out: Path, config_only: bool) -> None:
    write_checkpoint(demo.SPEC, "hf", Storage("hub"), out, config_only, demo.demo_tensors)
    write_json(out / "generation_config.json", configs.generation_config(demo.SPEC))


def _gpt_oss_20b(out: Path, config_only: bool) -> None:
    full_size.write_full_size(full_size.GPT_OSS_20B, full_size.NUM_FILES, out, config_only)


def _gpt_oss_20b_slice(out: Path, config_only: bool) -> None:
    """The 20b's matrices in two layers of four experts and a small vocabulary: 0.2 GB."""
    spec = replace(full_size.GPT_OSS_20B, layers=2, experts=4, vocab=4096)
    full_size.write_full_size(spec, full_size.NUM_FILES, out, config_only)


_WRITERS = {
    "demo": _demo,
    "demo-gguf": _demo_gguf,
    "gpt-oss-20b": _gpt_oss_20b,
    "gpt-oss-20b-slice": _gpt_oss_20b_slice,
}
PRESETS = tuple(_WRITERS)


def write_preset(name: str, out: Path, config_only: bool) -> None:
    _WRITERS[name](out, config_only)
