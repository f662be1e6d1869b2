"""Reads what peers' benchmark programs print: llama-bench and llama-batched-bench, of llama.cpp and of
ik_llama.cpp, as JSON or as tables.

Every figure becomes one entry {test: [tokens per second, ...]}, where a test is
    ("prefill", prompt tokens)                   one prompt
    ("decode", sequences, tokens before them)    all sequences together
"""

import json
import re

Test = tuple
Speeds = dict[Test, list[float]]

_TABLE_TEST = re.compile(r"^(pp|tg)(\d+)(?: @ d(\d+))?$")
_BATCHED_COLUMNS = ["PP", "TG", "B", "N_KV", "T_PP s", "S_PP t/s", "T_TG s", "S_TG t/s"]


def _add(speeds: Speeds, test: Test, values: list[float]) -> None:
    speeds.setdefault(test, []).extend(values)


def _add_llama_bench(speeds: Speeds, entry: dict) -> None:
    prompt, decoded = int(entry["n_prompt"]), int(entry["n_gen"])
    depth = int(entry.get("n_depth", 0))
    values = [float(value) for value in entry.get("samples_ts") or [entry["avg_ts"]]]
    if prompt and not decoded and not depth:
        _add(speeds, ("prefill", prompt), values)
    elif decoded and not prompt:
        _add(speeds, ("decode", 1, depth), values)


def _add_batched_bench(speeds: Speeds, entry: dict) -> None:
    prompt, sequences = int(entry["pp"]), int(entry["pl"])
    if sequences == 1:
        _add(speeds, ("prefill", prompt), [float(entry["speed_pp"])])
    _add(speeds, ("decode", sequences, prompt), [float(entry["speed_tg"])])


def _add_entry(speeds: Speeds, entry: object) -> None:
    if isinstance(entry, dict) and "n_gen" in entry:
        _add_llama_bench(speeds, entry)
    elif isinstance(entry, dict) and "speed_tg" in entry:
        _add_batched_bench(speeds, entry)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _add_table_row(speeds: Speeds, header: list[str], cells: list[str]) -> None:
    if header[: len(_BATCHED_COLUMNS)] == _BATCHED_COLUMNS:
        row = dict(zip(header, cells, strict=False))
        entry = {"pp": row["PP"], "pl": row["B"]}
        _add_batched_bench(
            speeds, {**entry, "speed_pp": row["S_PP t/s"], "speed_tg": row["S_TG t/s"]}
        )
    elif "test" in header and "t/s" in header:
        row = dict(zip(header, cells, strict=False))
        match = _TABLE_TEST.match(row["test"])
        speed = float(row["t/s"].split("±")[0])
        if match and match[1] == "pp" and not match[3]:
            _add(speeds, ("prefill", int(match[2])), [speed])
        elif match and match[1] == "tg":
            _add(speeds, ("decode", 1, int(match[3] or 0)), [speed])


def parse(text: str) -> Speeds:
    """What a peer's standard output says; {} when it says nothing that is understood."""
    speeds: Speeds = {}
    start = text.find("[\n")
    if start >= 0:
        try:
            for entry in json.JSONDecoder().raw_decode(text[start:])[0]:
                _add_entry(speeds, entry)
            return speeds
        except json.JSONDecodeError:
            pass
    header: list[str] = []
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("{"):
            try:
                _add_entry(speeds, json.loads(line))
            except json.JSONDecodeError:
                continue
        elif line.startswith("|"):
            cells = _cells(line)
            if set("".join(cells)) <= set("-: "):
                continue
            if "t/s" in cells or cells[: len(_BATCHED_COLUMNS)] == _BATCHED_COLUMNS:
                header = cells
            elif header and len(cells) == len(header):
                _add_table_row(speeds, header, cells)
    return speeds


def parse_rapt(report: dict) -> Speeds:
    """The same of `rapt bench latency --json`."""
    speeds: Speeds = {}
    for entry in report["tests"]:
        if entry["test"] == "prefill":
            prompt = entry["prompt_tokens"]
            _add(speeds, ("prefill", prompt), [prompt / seconds for seconds in entry["seconds"]])
        else:
            sequences = entry["sequences"]
            medians = [sequences / seconds for seconds in entry["round_medians"]]
            _add(speeds, ("decode", sequences, entry["depth"]), medians)
    return speeds
