#!/usr/bin/env python3
"""Makes tests/golden/llama from Hugging Face transformers, or checks that it would come out the same.

  make_llama_golden.py               re-makes every golden
  make_llama_golden.py q4_0 q4_1     re-makes these
  make_llama_golden.py --check       re-makes them and compares with the stored ones

Run it with .oracle-venv/bin/python (tools/setup_oracles.sh). The oracle is transformers' own class of
the model in float32 with eager attention; weights of GGUF files are de-quantised by PyPI's `gguf`.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from checkpoints import hash_random
from checkpoints.llama_cases import CASES, LlamaCase, find_case, write_checkpoint
from llama_oracle import OracleRun, load_gguf, load_hf, run

GOLDEN_DIR = Path(__file__).resolve().parents[1] / "tests" / "golden" / "llama"
NUM_GREEDY = 32
# Between the best and the second best token.
MIN_TOKEN_GAP = 0.02
MAX_ATTEMPTS = 200
CHECK_LIMIT = 1e-5


def load(case: LlamaCase, layout: str):
    with tempfile.TemporaryDirectory() as folder:
        write_checkpoint(case.spec, layout, Path(folder))
        return load_gguf(Path(folder) / "model.gguf") if "gguf" in layout else load_hf(Path(folder))


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


def check_layouts(case: LlamaCase, prompt: list[int], expected: OracleRun) -> float:
    """How far the case's other layouts are from the first, which hold the same values."""
    largest = 0.0
    for layout in case.layouts[1:]:
        logits = run(load(case, layout), prompt, 0).logits
        largest = max(largest, difference(logits, expected.logits))
    if largest > CHECK_LIMIT:
        raise ValueError(f"transformers reads the layouts differently, by {largest:.1e}")
    return largest


def make(case: LlamaCase) -> str:
    model = load(case, case.layouts[0])
    for attempt in range(MAX_ATTEMPTS):
        name = f"prompt {attempt}"
        prompt = hash_random.below(case.spec.seed, name, case.prompt_length, case.spec.vocab).tolist()
        found = run(model, prompt, NUM_GREEDY)
        if min(found.token_gaps) >= MIN_TOKEN_GAP:
            break
    else:
        raise ValueError("no prompt keeps its gaps; change the seed")
    layouts = check_layouts(case, prompt, found)
    golden = {
        "about": case.about,
        "layouts": case.layouts,
        "prompt": prompt,
        "greedy_tokens": found.greedy_tokens,
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in golden.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    GOLDEN_DIR.mkdir(parents=True, exist_ok=True)
    (GOLDEN_DIR / f"{case.name}.json").write_text(text, encoding="utf-8")
    np.save(GOLDEN_DIR / f"{case.name}.npy", found.logits)
    return f"token gap {min(found.token_gaps):.3f}, attempt {attempt}, layouts {layouts:.1e}"


def check(case: LlamaCase) -> str:
    golden = json.loads((GOLDEN_DIR / f"{case.name}.json").read_text(encoding="utf-8"))
    stored = np.load(GOLDEN_DIR / f"{case.name}.npy")
    found = run(load(case, case.layouts[0]), golden["prompt"], NUM_GREEDY)
    error = difference(found.logits, stored)
    if error > CHECK_LIMIT or found.greedy_tokens != golden["greedy_tokens"]:
        raise ValueError(f"differs from what is stored, by {error:.1e}")
    return f"stored {error:.1e}, layouts {check_layouts(case, golden['prompt'], found):.1e}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", type=find_case, help="names; without: all")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    act = check if arguments.check else make
    num_failed = 0
    for case in arguments.cases or CASES:
        try:
            print(f"{case.name:16} {act(case)}", flush=True)
        except (ValueError, OSError) as error:
            num_failed += 1
            print(f"{case.name:16} FAILED: {error}", flush=True)
    return 1 if num_failed else 0


if __name__ == "__main__":
    sys.exit(main())
