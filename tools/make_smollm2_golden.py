#!/usr/bin/env python3
"""Makes tests/golden/smollm2 from Hugging Face transformers, or checks that it would come out the same.

  make_smollm2_golden.py            re-makes it
  make_smollm2_golden.py --check    re-makes it and compares with what is stored

Run it with .oracle-venv/bin/python (tools/setup_oracles.sh). The model is SmolLM2-135M-Instruct as
tools/fetch_smollm2.py fetches it, or the file that --model names; its weights are de-quantised by
PyPI's `gguf`, and transformers computes in float32 with eager attention. Takes some minutes.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from checkpoints import hash_random
from llama_oracle import load_gguf, run
from tokenizers import pre_tokenizers
from transformers import AutoTokenizer

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "golden" / "smollm2"
NUM_GREEDY = 64
NUM_TEXT_TOKENS = 5000
# The text's perplexity is taken in windows of so many tokens, each by itself.
CONTEXT = 2048
# Of the vocabulary, whose logits are stored.
NUM_IDS = 1024
MAX_POSITIONS = 6
CHECK_LIMIT = 1e-5

QUESTIONS = (
    "What is the capital of Japan?",
    "What is the chemical formula of water?",
    "Name three colours.",
    "Write one sentence about the sea.",
    "How many days are there in a leap year, and why?",
    "Translate 'good morning' into French.",
    "List the planets of the solar system in order from the sun.",
    "Explain in two sentences what a compiler does.",
)
TEXT_LENGTHS = (1, 2, 5, 17, 64, 129, 256, 400, 700, 1024, 1500, 2000)


@dataclass(frozen=True)
class Prompt:
    name: str
    tokens: list[int]


def load_tokenizer(model: Path):
    """Transformers' tokenizer of the file. It leaves out how the text is cut into words, which the
    file only names ("smollm"): single digits, then as GPT-2 does."""
    tokenizer = AutoTokenizer.from_pretrained(str(model.parent), gguf_file=model.name)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    return tokenizer


def make_prompts(tokenizer, text: list[int]) -> list[Prompt]:
    prompts = []
    for idx, question in enumerate(QUESTIONS):
        chat = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
        prompts.append(Prompt(f"question {idx}", tokenizer.encode(chat, add_special_tokens=False)))
    for length in TEXT_LENGTHS:
        begin = int(hash_random.below(1, f"text {length}", 1, len(text) - length)[0])
        prompts.append(Prompt(f"text {length}", text[begin : begin + length]))
    return prompts


def chosen_positions(length: int) -> list[int]:
    """The first, the last, and some between."""
    return sorted({round(place) for place in np.linspace(0, length - 1, MAX_POSITIONS)})


def chosen_ids(vocab: int) -> np.ndarray:
    """Ascending; of all parts of the vocabulary alike."""
    step = vocab // NUM_IDS
    return np.arange(NUM_IDS) * step + hash_random.below(2, "ids", NUM_IDS, step)


@torch.no_grad()
def mean_nll(model: torch.nn.Module, text: list[int]) -> tuple[float, int]:
    """Over all tokens of the text but the first of each window; and how many these are."""
    total, count = 0.0, 0
    for begin in range(0, len(text), CONTEXT):
        window = torch.tensor([text[begin : begin + CONTEXT]])
        logits = model(window).logits[0, :-1].double()
        losses = torch.nn.functional.cross_entropy(logits, window[0, 1:], reduction="sum")
        total += float(losses)
        count += window.shape[1] - 1
    return total / count, count


def make(model_path: Path) -> tuple[dict, np.ndarray]:
    tokenizer = load_tokenizer(model_path)
    text = tokenizer.encode((FOLDER / "text.txt").read_text("utf-8"), add_special_tokens=False)
    text = text[:NUM_TEXT_TOKENS]
    model = load_gguf(model_path)
    ids = chosen_ids(model.config.vocab_size)
    prompts, rows = [], []
    for prompt in make_prompts(tokenizer, text):
        found = run(model, prompt.tokens, NUM_GREEDY)
        positions = chosen_positions(len(prompt.tokens))
        logits = found.logits[positions]
        rows.append(logits[:, ids])
        prompts.append(
            {
                "name": prompt.name,
                "tokens": prompt.tokens,
                "positions": positions,
                "norms": [float(norm) for norm in np.linalg.norm(logits.astype(np.float64), axis=1)],
                "greedy_tokens": found.greedy_tokens,
                "token_gaps": [round(gap, 5) for gap in found.token_gaps],
            }
        )
        print(f"{prompt.name:12} {len(prompt.tokens):5} tokens", flush=True)
    nll, count = mean_nll(model, text)
    print(f"perplexity {np.exp(nll):.5f} over {count} predictions", flush=True)
    golden = {
        "text_tokens": text,
        "context": CONTEXT,
        "predictions": count,
        "ids": ids.tolist(),
        "perplexity": float(np.exp(nll)),
        "prompts": prompts,
    }
    return golden, np.concatenate(rows)


def write(golden: dict, logits: np.ndarray) -> None:
    head = {key: value for key, value in golden.items() if key != "prompts"}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    prompts = ",\n".join(f"    {json.dumps(prompt)}" for prompt in golden["prompts"])
    lines.append(f'  "prompts": [\n{prompts}\n  ]')
    (FOLDER / "golden.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    np.save(FOLDER / "logits.npy", logits)


def check(golden: dict, logits: np.ndarray) -> int:
    stored = json.loads((FOLDER / "golden.json").read_text(encoding="utf-8"))
    error = np.linalg.norm(logits - np.load(FOLDER / "logits.npy")) / np.linalg.norm(logits)
    problems = [] if error <= CHECK_LIMIT else [f"the logits differ by {error:.1e}"]
    for ours, theirs in zip(golden["prompts"], stored["prompts"], strict=True):
        for key in ("name", "tokens", "positions", "greedy_tokens"):
            if ours[key] != theirs[key]:
                problems.append(f"{ours['name']}: other {key}")
    if golden["text_tokens"] != stored["text_tokens"]:
        problems.append("the text has other tokens")
    if abs(golden["perplexity"] / stored["perplexity"] - 1) > CHECK_LIMIT:
        problems.append("another perplexity")
    print("\n".join(problems) or f"stored {error:.1e}")
    return 1 if problems else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, help="the GGUF file; without it, it is fetched")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    model = arguments.model
    if model is None:
        fetch = [sys.executable, str(ROOT / "tools" / "fetch_smollm2.py")]
        found = subprocess.run(fetch, stdout=subprocess.PIPE, text=True, check=False)
        if found.returncode != 0:
            print("SmolLM2 cannot be fetched, so its goldens are not checked")
            return 0
        model = Path(found.stdout.strip())
    golden, logits = make(model)
    if arguments.check:
        return check(golden, logits)
    write(golden, logits)
    return 0


if __name__ == "__main__":
    sys.exit(main())
