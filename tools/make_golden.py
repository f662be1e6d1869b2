#!/usr/bin/env python3
"""Makes tests/golden from Hugging Face transformers, or checks that it would come out the same.

  make_golden.py                  re-makes every golden (or those named by --case)
  make_golden.py --check          re-makes them and compares with the stored ones

Run it with .oracle-venv/bin/python (tools/setup_oracles.sh). The oracle is GptOssForCausalLM in
float32 with eager attention. A float64 forward pass in plain numpy (reference_forward.py) is the
second opinion: it picks prompts whose routing and greedy tokens do not hang on a hair, and its
distance from transformers is printed and bounded.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import reference_forward
from checkpoints import hash_random
from checkpoints.cases import CASES, Case, find_case
from checkpoints.layouts import LAYOUTS
from checkpoints.writing import Storage, write_checkpoint

_ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ROOT / "tests" / "golden"))
import golden_lib  # noqa: E402

NUM_GREEDY = 64
MAX_ATTEMPTS = 400
# Between two runs of transformers, perhaps on different machines.
CHECK_LIMIT = 1e-5
# Between transformers in float32 and the float64 forward pass. Its float32 angles show at 4,200
# positions; nothing else comes near.
REFERENCE_LIMIT = 5e-5


@dataclass(frozen=True)
class Run:
    """What a model says about a prompt."""

    logits: np.ndarray
    greedy_tokens: list[int]


@dataclass(frozen=True)
class Candidate:
    """A prompt, and how the float64 pass went on it."""

    prompt: list[int]
    run: Run
    token_gaps: list[float]
    min_router_gap: float


def stored_positions(case: Case) -> list[int]:
    first = case.prompt_length - case.stored_positions if case.stored_positions else 0
    return list(range(first, case.prompt_length))


def _min_router_gap(model: reference_forward.Model, first_stored: int) -> float:
    """The last layer's routing at a position reaches only that position's logits."""
    gaps = [*model.router_gaps[:-1], model.router_gaps[-1][first_stored:]]
    return float(min(gap.min() for gap in gaps))


def try_prompt(case: Case, model: reference_forward.Model, prompt: list[int]) -> Candidate | None:
    """Runs the float64 pass; None when a gap is too small."""
    positions = stored_positions(case)
    model.reset()
    logits = model.forward(prompt)[positions]
    if _min_router_gap(model, positions[0]) < case.min_router_gap:
        return None
    tokens, gaps, last = [], [], logits[-1]
    for _ in range(NUM_GREEDY):
        best, second = np.argsort(-last, kind="stable")[:2]
        gaps.append(float(last[best] - last[second]))
        if gaps[-1] < case.min_token_gap:
            return None
        tokens.append(int(best))
        last = model.forward([int(best)])[-1]
    router_gap = _min_router_gap(model, positions[0])
    if router_gap < case.min_router_gap:
        return None
    return Candidate(prompt, Run(logits, tokens), gaps, router_gap)


def find_prompt(case: Case, model: reference_forward.Model) -> Candidate:
    for attempt in range(MAX_ATTEMPTS):
        name = f"prompt {attempt}"
        prompt = hash_random.below(case.spec.seed, name, case.prompt_length, case.spec.vocab)
        candidate = try_prompt(case, model, prompt.tolist())
        if candidate is not None:
            return candidate
    raise ValueError(f"{case.name}: none of {MAX_ATTEMPTS} prompts keeps its gaps; change the seed")


def run_transformers(folder: Path, is_quantised: bool, prompt: list[int], first: int) -> Run:
    """Logits from position `first` on, and the greedy continuation by an incremental cache."""
    import torch
    from transformers import GptOssForCausalLM, Mxfp4Config
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    options = {"quantization_config": Mxfp4Config(dequantize=True)} if is_quantised else {}
    model = GptOssForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", **options
    ).eval()
    with torch.no_grad():
        step = model(torch.tensor([prompt]), use_cache=True)
        logits = step.logits[0, first:].numpy()
        tokens: list[int] = []
        for _ in range(NUM_GREEDY):
            tokens.append(int(step.logits[0, -1].argmax()))
            step = model(torch.tensor([[tokens[-1]]]), cache=step.past_key_values)
    if logits.dtype != np.float32:
        raise ValueError(f"transformers answered in {logits.dtype}")
    return Run(logits, tokens)


def oracle_run(case: Case, folder: Path, prompt: list[int]) -> Run:
    """Transformers' answer, from every layout that it can load; they must agree.

    It cannot read `original/`, whose values are those of the hf layout.
    """
    first = stored_positions(case)[0]
    run = run_transformers(folder / "hf", True, prompt, first)
    if "bf16" in case.layouts:
        other = run_transformers(folder / "bf16", False, prompt, first)
        error = golden_lib.relative_error(other.logits, run.logits)
        if error > 1e-6 or other.greedy_tokens != run.greedy_tokens:
            raise ValueError(f"{case.name}: transformers differs between layouts by {error:.1e}")
    return run


def write_layouts(case: Case, folder: Path) -> None:
    """All layouts of the case, and hf also where the case has none, for transformers."""
    for layout in LAYOUTS:
        if layout in case.layouts:
            write_checkpoint(case.spec, layout, case.storage, folder / layout)
        elif layout == "hf":
            write_checkpoint(case.spec, layout, Storage("v5"), folder / layout)


def reference_errors(case: Case, folder: Path, prompt: list[int], run: Run) -> dict[str, float]:
    """How far the float64 pass is from `run`, by layout."""
    errors = {}
    for layout in case.layouts:
        logits = reference_forward.Model(folder / layout).forward(prompt)[stored_positions(case)]
        errors[layout] = golden_lib.relative_error(run.logits, logits)
        if errors[layout] > REFERENCE_LIMIT:
            raise ValueError(f"{case.name}/{layout}: {errors[layout]:.1e} from the float64 pass")
    return errors


def digests(case: Case, folder: Path) -> dict[str, dict[str, str]]:
    return {layout: golden_lib.file_digests(folder / layout) for layout in case.layouts}


def make(case: Case, folder: Path) -> str:
    """Writes the golden of a case; returns a line for people."""
    write_layouts(case, folder)
    candidate = find_prompt(case, reference_forward.Model(folder / case.layouts[0]))
    run = oracle_run(case, folder, candidate.prompt)
    errors = reference_errors(case, folder, candidate.prompt, run)
    if run.greedy_tokens != candidate.run.greedy_tokens:
        raise ValueError(f"{case.name}: greedy tokens differ between transformers and float64")
    golden = {
        "about": case.about,
        "layouts": list(case.layouts),
        "prompt": candidate.prompt,
        "positions": stored_positions(case),
        "greedy_tokens": run.greedy_tokens,
        "token_gaps": [round(gap, 5) for gap in candidate.token_gaps],
        "min_router_gap": min(round(candidate.min_router_gap, 5), 1e9),
        "files": digests(case, folder),
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in golden.items()]
    path = golden_lib.GOLDEN_DIR / f"{case.name}.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    np.save(golden_lib.GOLDEN_DIR / f"{case.name}.npy", run.logits)
    return (
        f"router gap {candidate.min_router_gap:.4f}, token gap {min(candidate.token_gaps):.4f}, "
        f"float64 {max(errors.values()):.1e}"
    )


def check(case: Case, folder: Path) -> str:
    """Compares the stored golden with a fresh run; ValueError says what differs."""
    write_layouts(case, folder)
    golden = golden_lib.load_golden(case.name)
    if golden.files != digests(case, folder):
        raise ValueError(f"{case.name}: the generator writes other bytes than it did")
    run = oracle_run(case, folder, golden.prompt)
    error = golden_lib.relative_error(run.logits, golden.logits)
    if error > CHECK_LIMIT:
        raise ValueError(f"{case.name}: logits differ by {error:.1e}, allowed {CHECK_LIMIT:.0e}")
    if run.greedy_tokens != golden.greedy_tokens:
        raise ValueError(f"{case.name}: greedy tokens differ")
    errors = reference_errors(case, folder, golden.prompt, run)
    return f"stored {error:.1e}, float64 {max(errors.values()):.1e}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--case", action="append", metavar="NAME", help="only this case")
    parser.add_argument(
        "--checkpoints",
        type=Path,
        metavar="DIR",
        default=_ROOT / "build" / "oracle-checkpoints",
        help="where the models are written (default: build/oracle-checkpoints)",
    )
    arguments = parser.parse_args()
    num_failed = 0
    try:
        chosen = [find_case(name) for name in arguments.case] if arguments.case else CASES
    except ValueError as error:
        parser.error(str(error))
    for case in chosen:
        act = check if arguments.check else make
        try:
            print(f"{case.name:20} {act(case, arguments.checkpoints / case.name)}", flush=True)
        except (ValueError, OSError) as error:
            num_failed += 1
            print(f"{case.name:20} FAILED: {error}", flush=True)
    if arguments.check:
        print(f"{len(chosen) - num_failed} of {len(chosen)} goldens came out the same")
    return 1 if num_failed else 0


if __name__ == "__main__":
    sys.exit(main())
