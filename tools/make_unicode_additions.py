#!/usr/bin/env python3
"""Writes src/text/unicode_additions.cpp: what Unicode 16 has and Unicode 14 lacks.

PCRE2 10.42 knows the categories of Unicode 14, the tokenizers that models were trained with know
later ones, and a letter that one of them does not know cuts a text differently. The split patterns
name the missing characters beside each \\p{...} (src/text/split_pattern.cpp). With a newer PCRE2
the additions change nothing.

usage: tools/make_unicode_additions.py [--check]
Needs Python 3.11 (its unicodedata is that of 14.0.0) and the package unicodedata2 16.0.0.
"""

import pathlib
import sys
import unicodedata

import unicodedata2

TARGET = pathlib.Path(__file__).resolve().parent.parent / "src/text/unicode_additions.cpp"
GENERAL = ["L", "M", "N", "P", "S"]

HEAD = """\
// Made by tools/make_unicode_additions.py from Unicode 14.0.0 and 16.0.0. Do not edit.
// clang-format off

#include "text/unicode_additions_internal.h"

namespace rapt {

namespace {

constexpr UnicodeAddition kAdditions[] = {
"""

TAIL = """\
};

}  // namespace

std::span<const UnicodeAddition> unicode_additions() {
  return kAdditions;
}

}  // namespace rapt
"""


def class_text(code_points: list[int]) -> list[str]:
    """The inside of a regular expression's character class, a range an entry."""
    ranges: list[list[int]] = []
    for code_point in code_points:
        if ranges and ranges[-1][1] == code_point - 1:
            ranges[-1][1] = code_point
        else:
            ranges.append([code_point, code_point])
    return [
        rf"\x{{{first:x}}}" + (rf"-\x{{{last:x}}}" if last > first else "")
        for first, last in ranges
    ]


def additions() -> dict[str, list[int]]:
    added: dict[str, list[int]] = {}
    for code_point in range(0x110000):
        old = unicodedata.category(chr(code_point))
        new = unicodedata2.category(chr(code_point))
        if old == new:
            continue
        if old != "Cn" and old[0] != new[0]:
            sys.exit(f"U+{code_point:04X} went from {old} to {new}: additions cannot say that")
        if new[0] in GENERAL and old == "Cn":
            added.setdefault(new[0], []).append(code_point)
            added.setdefault(new, []).append(code_point)
    return added


def source() -> str:
    lines = []
    for category, code_points in sorted(additions().items()):
        lines.append(f'    {{"{category}",\n')
        line = ""
        for text in class_text(code_points):
            if len(line) + len(text) > 80:
                lines.append(f'     R"({line})"\n')
                line = ""
            line += text
        lines.append(f'     R"({line})"}},\n')
    return HEAD + "".join(lines) + TAIL


def main() -> None:
    if (unicodedata.unidata_version, unicodedata2.unidata_version) != ("14.0.0", "16.0.0"):
        sys.exit(__doc__)
    if sys.argv[1:] == ["--check"]:
        if TARGET.read_text() != source():
            sys.exit(f"{TARGET} is not what this script makes")
        return
    TARGET.write_text(source())


if __name__ == "__main__":
    main()
