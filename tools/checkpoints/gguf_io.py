"""A small writer and reader of GGUF files, version 3, little endian.

A file is: "GGUF", version (uint32), number of tensors and of metadata values (uint64 each), the
values, the tensors' entries, and, from the next multiple of 32 bytes on, their data. Dimensions are
listed innermost first.
"""

import math
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ALIGNMENT = 32

# Element types: (number, elements of a block, bytes of a block).
TYPES = {
    "F32": (0, 1, 4),
    "F16": (1, 1, 2),
    "Q4_0": (2, 32, 18),
    "Q4_1": (3, 32, 20),
    "MXFP4_OLLAMA": (4, 32, 17),
    "Q5_0": (6, 32, 22),
    "Q5_1": (7, 32, 24),
    "Q8_0": (8, 32, 34),
    "Q4_K": (12, 256, 144),
    "Q5_K": (13, 256, 176),
    "Q6_K": (14, 256, 210),
    "BF16": (30, 1, 2),
    "MXFP4": (39, 32, 17),
}
_NAMES = {number: name for name, (number, _, _) in TYPES.items()}

# Metadata types, by number, as struct spells them; strings and arrays are apart.
_FORMATS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True)
class GgufTensor:
    """A tensor as it is stored: `data` are the bytes, `shape` counts elements, outermost first."""

    name: str
    type: str
    shape: tuple[int, ...]
    data: np.ndarray


class U16(int):
    """A number that is written as uint16 rather than as uint32."""


def _string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _typed(value: object) -> tuple[int, bytes]:
    """Which type a Python value is written as, and its bytes."""
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    if isinstance(value, U16):
        return 2, struct.pack("<H", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    if isinstance(value, str):
        return _STRING, _string(value)
    if isinstance(value, list):
        if all(type(item) is int for item in value):
            return _ARRAY, struct.pack("<IQ", 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
        items = [_typed(item) for item in value]
        return _ARRAY, struct.pack("<IQ", items[0][0], len(items)) + b"".join(i[1] for i in items)
    raise TypeError(f"{value!r} has no type in GGUF files")


def _padding(size: int) -> bytes:
    return bytes(-size % ALIGNMENT)


def write_file(path: Path, metadata: dict[str, object], tensors: list[GgufTensor]) -> None:
    out = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(metadata))]
    for key, value in metadata.items():
        number, encoded = _typed(value)
        out += [_string(key), struct.pack("<I", number), encoded]
    offset = 0
    for tensor in tensors:
        number, elements, size = TYPES[tensor.type]
        if math.prod(tensor.shape) // elements * size != tensor.data.nbytes:
            raise ValueError(f"{tensor.name}: {tensor.data.nbytes} bytes for {tensor.shape}")
        out.append(_string(tensor.name))
        out.append(struct.pack(f"<I{len(tensor.shape)}Q", len(tensor.shape), *tensor.shape[::-1]))
        out.append(struct.pack("<IQ", number, offset))
        offset += tensor.data.nbytes + len(_padding(tensor.data.nbytes))
    head = b"".join(out)
    with open(path, "wb") as file:
        file.write(head + _padding(len(head)))
        for tensor in tensors:
            file.write(np.ascontiguousarray(tensor.data).tobytes())
            file.write(_padding(tensor.data.nbytes))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def unpack(self, spelling: str) -> tuple:
        values = struct.unpack_from(spelling, self.data, self.position)
        self.position += struct.calcsize(spelling)
        return values

    def string(self) -> str:
        (length,) = self.unpack("<Q")
        self.position += length
        return self.data[self.position - length : self.position].decode()

    def value(self, number: int) -> object:
        if number == _STRING:
            return self.string()
        if number == _ARRAY:
            item_number, count = self.unpack("<IQ")
            return [self.value(item_number) for _ in range(count)]
        return self.unpack(_FORMATS[number])[0]


def read_file(path: Path) -> tuple[dict[str, object], dict[str, GgufTensor]]:
    """The metadata and the tensors by name, of a sound file."""
    reader = _Reader(path.read_bytes())
    reader.position = 4
    _, num_tensors, num_values = reader.unpack("<IQQ")
    metadata = {}
    for _ in range(num_values):
        key = reader.string()
        metadata[key] = reader.value(reader.unpack("<I")[0])
    entries = []
    for _ in range(num_tensors):
        name = reader.string()
        (num_dims,) = reader.unpack("<I")
        shape = reader.unpack(f"<{num_dims}Q")[::-1]
        entries.append((name, shape, *reader.unpack("<IQ")))
    begin = reader.position + len(_padding(reader.position))
    tensors = {}
    for name, shape, number, offset in entries:
        type_name = _NAMES[number]
        _, elements, size = TYPES[type_name]
        count = math.prod(shape) // elements * size
        data = np.frombuffer(reader.data, np.uint8, count, begin + offset)
        tensors[name] = GgufTensor(name, type_name, shape, data)
    return metadata, tensors
