#!/usr/bin/env python3
"""Makes tests/golden/llama from Hugging Face transformers, or checks that it would come out the same.

  make_llama_golden.py            re-makes every golden
  make_llama_golden.py --check    re-makes them and compares with the stored ones

Run it with .oracle-venv/bin/python (tools/setup_oracles.sh). The oracle is transformers' own class of
the model in float32 with eager attention.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from checkpoints import hash_random
from checkpoints.llama import CASES, LlamaCase, write_checkpoint

GOLDEN_DIR = Path(__file__).resolve().parents[1] / "tests" / "golden" / "llama"
NUM_GREEDY = 32
# Between the best and the second best token.
MIN_TOKEN_GAP = 0.02
CHECK_LIMIT = 1e-5


def oracle_run(case: LlamaCase, prompt: list[int]) -> tuple[np.ndarray, list[int], float]:
    """Logits of the prompt, the greedy tokens behind it, and the smallest gap on the way."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        write_checkpoint(case.spec, "hf", Path(folder))
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager"
        ).eval()
    with torch.no_grad():
        step = model(torch.tensor([prompt]), use_cache=True)
        logits = step.logits[0].numpy()
        tokens: list[int] = []
        gap = float("inf")
        for _ in range(NUM_GREEDY):
            best = torch.topk(step.logits[0, -1], 2)
            gap = min(gap, float(best.values[0] - best.values[1]))
            tokens.append(int(best.indices[0]))
            step = model(torch.tensor([[tokens[-1]]]), cache=step.past_key_values)
    return logits, tokens, gap


def make(case: LlamaCase) -> str:
    for attempt in range(100):
        name = f"prompt {attempt}"
        prompt = hash_random.below(case.spec.seed, name, case.prompt_length, case.spec.vocab).tolist()
        logits, tokens, gap = oracle_run(case, prompt)
        if gap >= MIN_TOKEN_GAP:
            break
    else:
        raise ValueError("no prompt keeps its gaps; change the seed")
    golden = {"about": case.about, "layouts": case.layouts, "prompt": prompt, "greedy_tokens": tokens}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in golden.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    GOLDEN_DIR.mkdir(parents=True, exist_ok=True)
    (GOLDEN_DIR / f"{case.name}.json").write_text(text, encoding="utf-8")
    np.save(GOLDEN_DIR / f"{case.name}.npy", logits)
    return f"token gap {gap:.3f}, attempt {attempt}"


def check(case: LlamaCase) -> str:
    golden = json.loads((GOLDEN_DIR / f"{case.name}.json").read_text(encoding="utf-8"))
    stored = np.load(GOLDEN_DIR / f"{case.name}.npy")
    logits, tokens, _ = oracle_run(case, golden["prompt"])
    error = float(np.linalg.norm(logits - stored) / np.linalg.norm(stored))
    if error > CHECK_LIMIT or tokens != golden["greedy_tokens"]:
        raise ValueError(f"differs from what is stored, by {error:.1e}")
    return f"stored {error:.1e}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    act = check if parser.parse_args().check else make
    num_failed = 0
    for case in CASES:
        try:
            print(f"{case.name:16} {act(case)}", flush=True)
        except (ValueError, OSError) as error:
            num_failed += 1
            print(f"{case.name:16} FAILED: {error}", flush=True)
    return 1 if num_failed else 0


if __name__ == "__main__":
    sys.exit(main())
