"""A small safetensors writer and reader.

A file is: the header's length (uint64, little endian), the header (JSON: name -> dtype, shape,
offsets into the data part), the data. The header is padded with blanks to a multiple of 8 bytes.
"""

import json
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_NUMPY_TYPE = {
    "BF16": np.dtype("<u2"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "U8": np.dtype("u1"),
}
_TYPE_OF_ARRAY = {
    np.dtype(np.uint16): "BF16",
    np.dtype(np.float16): "F16",
    np.dtype(np.float32): "F32",
    np.dtype(np.uint8): "U8",
}


@dataclass(frozen=True)
class TensorEntry:
    """A tensor to be written: `chunks` is called at writing time and yields its bytes in order."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    chunks: Callable[[], Iterable[np.ndarray]]

    @property
    def num_bytes(self) -> int:
        return math.prod(self.shape) * _NUMPY_TYPE[self.dtype].itemsize


def array_entry(name: str, values: np.ndarray) -> TensorEntry:
    """An entry for a whole array; uint16 is taken as BF16 bits."""
    dtype = _TYPE_OF_ARRAY[values.dtype]
    stored = np.ascontiguousarray(values, dtype=_NUMPY_TYPE[dtype])
    return TensorEntry(name, dtype, stored.shape, lambda: [stored])


def write_file(
    path: Path, entries: list[TensorEntry], on_bytes: Callable[[int], None] = lambda count: None
) -> None:
    """Writes the entries in the given order; `on_bytes` hears how much was written.

    The file appears under its name when it is whole: a server may have the old one mapped, and must
    never see it shrink.
    """
    header: dict = {"__metadata__": {"format": "pt"}}
    offset = 0
    for entry in entries:
        header[entry.name] = {
            "dtype": entry.dtype,
            "shape": list(entry.shape),
            "data_offsets": [offset, offset + entry.num_bytes],
        }
        offset += entry.num_bytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with open(part, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for entry in entries:
            written = 0
            for chunk in entry.chunks():
                file.write(chunk.data)
                written += chunk.nbytes
                on_bytes(chunk.nbytes)
            if written != entry.num_bytes:
                raise ValueError(f"{entry.name}: {written} bytes for a tensor of {entry.num_bytes}")
    part.replace(path)


def read_file(path: Path) -> dict[str, np.ndarray]:
    """All tensors of a file by name, as views of one buffer; BF16 comes back as uint16 bits."""
    data = np.fromfile(path, dtype=np.uint8)
    header_size = int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8 : 8 + header_size].tobytes())
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + header_size + offset for offset in entry["data_offsets"])
        values = data[begin:end].view(_NUMPY_TYPE[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors
