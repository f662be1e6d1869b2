"""Models that are no golden cases: a toy for trying the server, and gpt-oss-20b at full size."""

from pathlib import Path

from .spec import ModelSpec
from .writing import Storage, write_checkpoint

_DEMO = ModelSpec(1, 64, 96, 4, 8, 2, 16, experts=8, window=128, vocab=201088)

PRESETS = ("demo",)


def write_preset(name: str, out: Path, config_only: bool) -> None:
    write_checkpoint(_DEMO, "hf", Storage("hub"), out, config_only)
