"""Writes a checkpoint folder: config.json, weight files and, where there are several, the index."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import configs, gguf_layouts
from .layouts import entries_for
from .safetensors_io import TensorEntry, write_file
from .spec import ModelSpec
from .values import tensors


@dataclass(frozen=True)
class Storage:
    """How a checkpoint is spelled on disk."""

    config_style: str = "hub"
    # With more than one file, the last holds all MXFP4 scales, away from their blocks.
    num_files: int = 1


def write_json(path: Path, content: dict) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def file_names(layout: str, num_files: int) -> list[str]:
    """Names as used on the Hub. Hugging Face's there count from 0 up to and including N."""
    if num_files == 1:
        return ["model.safetensors"]
    if layout == "original":
        return [f"model--{i + 1:05}-of-{num_files:05}.safetensors" for i in range(num_files)]
    return [f"model-{i:05}-of-{num_files - 1:05}.safetensors" for i in range(num_files)]


def _distribute(entries: list[TensorEntry], num_files: int) -> list[list[TensorEntry]]:
    if num_files == 1:
        return [entries]
    scales = [entry for entry in entries if entry.name.endswith("scales")]
    others = [entry for entry in entries if not entry.name.endswith("scales")]
    if not scales:
        scales = [others.pop()]
    share = -(-len(others) // (num_files - 1))
    return [others[i * share : (i + 1) * share] for i in range(num_files - 1)] + [scales]


def refuse_foreign_weights(out: Path, names: list[str]) -> None:
    """A loader reads every weight file of a folder, so a leftover would spoil the checkpoint."""
    for path in sorted(out.glob("*.safetensors*")):
        if path.name not in (*names, "model.safetensors.index.json"):
            raise ValueError(f"{path} is in the way; name an empty or a new folder")


def write_weights(
    out: Path,
    names: list[str],
    shards: list[list[TensorEntry]],
    with_index: bool,
    on_bytes: Callable[[int], None] = lambda count: None,
) -> None:
    index: dict = {"metadata": {"total_size": 0}, "weight_map": {}}
    for name, shard in zip(names, shards, strict=True):
        write_file(out / name, shard, on_bytes)
        for entry in shard:
            index["metadata"]["total_size"] += entry.num_bytes
            index["weight_map"][entry.name] = name
    index_path = out / "model.safetensors.index.json"
    if with_index:
        index["weight_map"] = dict(sorted(index["weight_map"].items()))
        write_json(index_path, index)
    else:
        index_path.unlink(missing_ok=True)


def config_for(spec: ModelSpec, layout: str, style: str) -> dict:
    if layout == "original":
        return configs.original_config(spec)
    return configs.hugging_face_config(spec, style, quantised=layout == "hf")


def write_checkpoint(
    spec: ModelSpec,
    layout: str,
    storage: Storage,
    out: Path,
    config_only: bool = False,
    make_tensors: Callable[[ModelSpec], Iterable[tuple[str, np.ndarray]]] = tensors,
) -> None:
    """Writes a checkpoint that fits in memory into the folder `out`, which is made if absent."""
    out.mkdir(parents=True, exist_ok=True)
    if layout in gguf_layouts.LAYOUTS:
        if config_only:
            raise ValueError("a GGUF file holds its config beside its weights")
        gguf_layouts.write_gguf(spec, layout, storage.num_files, out, make_tensors(spec))
        return
    names = file_names(layout, storage.num_files)
    refuse_foreign_weights(out, names)
    write_json(out / "config.json", config_for(spec, layout, storage.config_style))
    if config_only:
        return
    shards = _distribute(entries_for(layout, make_tensors(spec)), storage.num_files)
    has_index = layout != "original" and storage.num_files > 1
    write_weights(out, names, shards, has_index)
