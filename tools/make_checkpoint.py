#!/usr/bin/env python3
"""Writes random gpt-oss checkpoints: the same bytes on every machine and with every numpy.

  make_checkpoint.py --case window-3 --layout hf --out DIR      one golden case in one layout
  make_checkpoint.py --all-goldens --out DIR                    every case, in DIR/CASE/LAYOUT
  make_checkpoint.py --preset demo --out DIR                    a toy with gpt-oss's vocabulary
  make_checkpoint.py --preset demo-gguf --out DIR               the same in DIR/model.gguf
  make_checkpoint.py --case window-3 --layout gguf --out DIR    the same model in DIR/model.gguf
  make_checkpoint.py --preset gpt-oss-20b --out DIR             full size, 13.8 GB

Needs numpy and nothing else. The values are random, and so is everything that such a model says.
"""

import argparse
import fcntl
import hashlib
import sys
from pathlib import Path

from checkpoints import presets
from checkpoints.cases import CASES, find_case
from checkpoints.layouts import LAYOUTS
from checkpoints.writing import write_checkpoint


def _sources_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent / "checkpoints").glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def write_all_goldens(out: Path) -> None:
    """Writes every case in its layouts, or nothing if `out` was filled by these very sources."""
    out.mkdir(parents=True, exist_ok=True)
    stamp = out / "complete"
    digest = _sources_digest()
    # Tests that run side by side share one folder: the first fills it, the others wait.
    with open(out / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == digest:
            return
        stamp.unlink(missing_ok=True)
        for case in CASES:
            for layout in case.layouts:
                print(f"{case.name}/{layout}", file=sys.stderr)
                write_checkpoint(case.spec, layout, case.storage, out / case.name / layout)
        stamp.write_text(digest)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--case", metavar="NAME", help="a golden case; --list shows them")
    what.add_argument("--all-goldens", action="store_true", help="every golden case and layout")
    what.add_argument("--preset", choices=presets.PRESETS, help="a model that is no golden case")
    what.add_argument("--list", action="store_true", help="show the golden cases")
    parser.add_argument("--layout", choices=LAYOUTS, default="hf", help="for --case (default: hf)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder to write")
    parser.add_argument("--config-only", action="store_true", help="no weights (--case, --preset)")
    arguments = parser.parse_args()
    if not arguments.list and arguments.out is None:
        parser.error("--out is required")
    return arguments


def main() -> int:
    arguments = _parse_arguments()
    try:
        if arguments.list:
            for case in CASES:
                print(f"{case.name:20} {' '.join(case.layouts):26} {case.about}")
        elif arguments.all_goldens:
            write_all_goldens(arguments.out)
        elif arguments.preset:
            presets.write_preset(arguments.preset, arguments.out, arguments.config_only)
        else:
            case = find_case(arguments.case)
            write_checkpoint(
                case.spec, arguments.layout, case.storage, arguments.out, arguments.config_only
            )
    except (ValueError, OSError) as error:
        print(f"make_checkpoint: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
