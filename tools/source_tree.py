"""What the checks of tools/ share: which files there are, which are tests, what is code in them."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE_SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}

_COMMENT_OR_TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


def tracked_files():
    """Files that git knows or would take, and that exist; paths from the root."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout
    return [p for p in map(pathlib.Path, filter(None, listing.split("\0"))) if (ROOT / p).is_file()]


def is_test(path):
    """Whether the name of the file, or of a folder on its way, holds the word "test"."""
    words = re.split(r"[_.]", path.name) + list(path.parts[:-1])
    return any(word in ("test", "tests", "testing") for word in words)


def blank_out(text):
    """C++ without comments and without what stands in quotes; line breaks stay where they are."""
    return _COMMENT_OR_TEXT.sub(lambda match: "\n" * match[0].count("\n") or " ", text)
