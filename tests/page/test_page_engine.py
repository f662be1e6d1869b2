"""The engine view."""

import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from browser import Page
from rapt_process import RaptServer, ScriptedServer
from test_page_chat import NUM_HEADER_TOKENS, final

ROOT = Path(__file__).resolve().parents[2]


def test_requests_are_shown_while_they_run(page: Page, server: ScriptedServer):
    page.click("#tab-engine")
    page.wait_text(".request-card", "Nothing runs.")
    page.wait_text(".memory", "Weights, mapped from the files")
    assert "3.0 GiB" in page.text(".memory")
    assert "Sliding layers, window 128" in page.text(".block-map")
    assert page.text(".attention .parts").split("\n")[:2] == ["Backend", "fake"]
    server.say(final("one two three four five six"))
    server.allow_steps(NUM_HEADER_TOKENS + 2)
    page.click("#tab-chat")
    page.ask("Count.")
    page.wait_text(".is-running .markdown", "one two")
    page.click("#tab-engine")
    page.wait_text(".requests .phase", "decode")
    page.wait_text(".figures-row", "running of 8")
    assert "of 512 that a step may have" in page.text(".step")
    assert len(page.all(".requests tbody tr")) == 1
    page.wait_text(".requests tbody", f"{NUM_HEADER_TOKENS + 2} / ")
    used = page.all(".block-map .map-group:first-child .cell[class*=owner]")
    assert len(used) == 1
    assert "1 of 64 in use" in page.text(".block-map")
    server.allow_steps(None)
    page.wait_text(".request-card", "Nothing runs.")
    assert page.all(".cell[class*=owner]") == []


@pytest.fixture(scope="module")
def real_server(binary: Path):
    """The demo model behind the real engine, with room for two sequences."""
    out = ROOT / "build" / "e2e" / "demo"
    out.parent.mkdir(parents=True, exist_ok=True)
    tool = ROOT / "tools" / "make_checkpoint.py"
    subprocess.run([sys.executable, tool, "--preset", "demo", "--out", out], check=True)
    server = RaptServer(
        binary, out, "--max-num-seqs", "2", "--kv-cache-memory-bytes", "64MiB",
        "--max-model-len", "4096",
    )
    yield server
    assert server.stop() == 0, server.log()


def test_the_real_engine_is_seen_through(blank: Page, real_server: RaptServer):
    stop = threading.Event()

    def ask_for_long():
        body = {"prompt": "a", "max_tokens": 4000, "ignore_eos": True, "stream": True}
        with httpx.stream("POST", real_server.url + "/v1/completions", json=body, timeout=60) as r:
            for _ in r.iter_lines():
                if stop.is_set():
                    return

    blank.open(real_server.url, "#engine")
    blank.wait_text(".request-card", "Nothing runs.")
    askers = [threading.Thread(target=ask_for_long, daemon=True) for _ in range(4)]
    for asker in askers:
        asker.start()
    try:
        blank.wait_text(".reason", "as many run as may")
        blank.wait_text(".reason", "behind others")
        blank.wait_text(".requests", "decode")
        assert len(blank.all(".requests tbody tr")) == 4
        blank.wait(lambda: len(blank.all(".cell[class*=owner]")) > 4, "blocks are held")
        owners = {c for e in blank.all(".cell[class*=owner]") for c in e.get_attribute("class").split()}
        assert len(owners - {"cell", "is-part"}) == 2
        # A second has gone by, so the charts show something.
        blank.wait(
            lambda: "now –" not in blank.text(".chart .legend")
            and "between tokens –" not in blank.text(".chart .legend"),
            "the charts have values",
        )
    finally:
        stop.set()
        for asker in askers:
            asker.join(60)
    blank.wait_text(".request-card", "Nothing runs.")
    blank.wait(lambda: blank.all(".cell[class*=owner]") == [], "all blocks are free again")
    # A later visitor finds the history.
    blank.load("#engine")
    blank.wait(
        lambda: (blank.js("return document.querySelector('.chart .line').getAttribute('d')") or "").count("L") > 1,
        "the past is drawn",
    )
    assert blank.console_errors() == []
