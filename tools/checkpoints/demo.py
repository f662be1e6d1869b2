"""A toy gpt-oss with the real vocabulary that answers in short, grammatical nonsense.

Every matrix is random but for two: the embedding marks each listed token with its class, in
dimensions that no layer writes to, and the head favours the classes that may follow. So the toy
answers a Harmony prompt with a final message of a few sentences and stops, which is what trying a
server needs. Which word of a class comes next is up to the random layers.
"""

from collections.abc import Iterator

import numpy as np

from .number_formats import from_bf16, to_bf16
from .spec import ModelSpec, Spread
from .values import tensors

# class: (ids in o200k_harmony, classes that may follow)
_CLASSES = {
    "assistant": ((173781,), ("channel",)),
    "channel": ((200005,), ("final",)),
    "final": ((17196,), ("message",)),
    "message": ((200008,), ("opening",)),
    # The, Every, This, Another
    "opening": ((976, 15745, 2500, 21269), ("adjective", "subject")),
    # the same with a blank before, as in " The"
    "again": ((623, 9312, 1328, 20064), ("adjective", "subject")),
    # quiet, small, grey, green, curious, patient, bright, strange, slow, gentle, hidden, random
    "adjective": (
        (15095, 3291, 32588, 8851, 33612, 10323, 13712, 26197, 9800, 25748, 14051, 7526),
        ("subject",),
    ),
    # river, doctor, teacher, fox, bird, cat, machine, robot, painter, baker, model, wind
    "subject": (
        (20608, 12342, 14044, 68347, 16189, 9059, 7342, 20808, 53541, 121034, 2359, 11215),
        ("verb",),
    ),
    # follows, paints, finds, carries, opens, reads, builds, watches, counts, repairs, keeps, moves
    "verb": (
        (18183, 76393, 22016, 39046, 24061, 31523, 40340, 38928, 28991, 33221, 18295, 19523),
        ("article",),
    ),
    # the, a, every, this, another
    "article": ((290, 261, 1753, 495, 3613), ("object",)),
    # lamp, bridge, garden, letter, window, mountain, boat, clock, kitchen, map, violin, forest
    "object": (
        (30390, 23273, 13727, 10263, 5734, 21689, 19736, 16523, 10084, 4014, 88326, 19458),
        ("preposition", "link", "stop"),
    ),
    # under, near, behind, above, beyond, inside
    "preposition": ((1641, 5862, 7807, 5151, 11615, 6772), ("owner",)),
    # its, our, their, your, my
    "owner": ((1617, 1039, 1043, 634, 922), ("place",)),
    # roof, tower, table, tree, moon, hill, station, library, stairs, tent
    "place": (
        (16367, 35225, 3293, 8165, 28479, 32306, 11538, 11282, 49880, 11645),
        ("link", "stop"),
    ),
    # while, because, until, although
    "link": ((2049, 2236, 4609, 11943), ("pronoun",)),
    # nobody, everyone, someone, nothing
    "pronoun": ((35784, 6524, 5693, 6939), ("end verb",)),
    # sleeps, waits, sings, laughs, listens, works, smiles, agrees, dreams, dances, knows
    "end verb": (
        (104072, 99777, 104369, 92683, 117240, 5882, 67894, 64454, 23749, 110933, 13484),
        ("stop",),
    ),
    "stop": ((13,), ("again", "return")),
    "return": ((200002,), ()),
}
# The class of all other tokens, so that text without Harmony's frame is continued too.
_OTHERS_FOLLOW = ("opening", "again")

# The dimension of a class, and one more for tokens of no class.
_DIMENSION = {name: index for index, name in enumerate(_CLASSES)}
_NO_CLASS = len(_CLASSES)

_MARK = 4.0
_FAVOUR = 12.0
# Classes of one token need a little more, since a larger class draws its best of many.
_FAVOUR_ONE = 12.5
# Tokens of no class, and those alone in theirs, keep this share of the head's random part.
_QUIET = 0.6

SPEC = ModelSpec(
    seed=1,
    hidden=64,
    intermediate=96,
    layers=4,
    heads=4,
    kv_heads=2,
    head_dim=64,
    experts=8,
    window=128,
    vocab=201088,
    spread=Spread(head=1.0, attention_out=2.0, gate_up=2.0, kept_dimensions=_NO_CLASS + 1),
)


def _mark_classes(embedding: np.ndarray) -> None:
    embedding[:, : _NO_CLASS + 1] = 0
    embedding[:, _NO_CLASS] = _MARK
    for name, (ids, _) in _CLASSES.items():
        embedding[list(ids), _NO_CLASS] = 0
        embedding[list(ids), _DIMENSION[name]] = _MARK


def _favour_followers(head: np.ndarray) -> None:
    large_classes = [ids for ids, _ in _CLASSES.values() if len(ids) > 1]
    is_quiet = np.ones(len(head), dtype=bool)
    is_quiet[[token for ids in large_classes for token in ids]] = False
    head[is_quiet] *= np.float32(_QUIET)
    head[:, : _NO_CLASS + 1] = 0
    rules = [(_DIMENSION[name], following) for name, (_, following) in _CLASSES.items()]
    rules.append((_NO_CLASS, _OTHERS_FOLLOW))
    for dimension, following in rules:
        for follower in following:
            ids = list(_CLASSES[follower][0])
            head[ids, dimension] = _FAVOUR if len(ids) > 1 else _FAVOUR_ONE


def demo_tensors(spec: ModelSpec) -> Iterator[tuple[str, np.ndarray]]:
    edits = {"model.embed_tokens.weight": _mark_classes, "lm_head.weight": _favour_followers}
    for name, values in tensors(spec):
        if name in edits:
            floats = from_bf16(values)
            edits[name](floats)
            values = to_bf16(floats)
        yield name, values
