#!/usr/bin/env python3
"""How fast the page is: its first paint, its size, how smooth it stays while a long answer comes in, and
what an idle server costs that is being watched.

usage: .venv/bin/python bench/page.py [--binary build/release/scripted_server]

Needs what tests/page needs (./test sets it up).
"""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "page"), str(ROOT / "tests" / "e2e")]

from browser import Page, start_chromium  # noqa: E402
from rapt_process import ScriptedServer  # noqa: E402

NUM_VISITS = 5
IDLE_S = 30
STEPS_AT_ONCE, PAUSE_S = 50, 0.06  # about 800 tokens a second

WATCH_FRAMES = """
window.gaps = [];
window.tasks = [];
let last = performance.now();
function frame() {
  const now = performance.now();
  window.gaps.push(now - last);
  last = now;
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
new PerformanceObserver((list) => list.getEntries().forEach((e) => window.tasks.push(e.duration)))
  .observe({ type: "longtask" });
"""


def long_answer() -> str:
    """About 19,400 tokens of everything that Markdown has."""
    text = "The quick brown fox jumps over the lazy dog **again** and `again`. " * 8
    code = "```python\n" + "\n".join(f"x{i} = {i}" for i in range(20)) + "\n```"
    table = "| a | b |\n|---|---|\n" + "\n".join(["| 1 | 2 |"] * 5)
    parts = [f"## Part {i}\n\n{text}\n\n- one\n- two\n\n{text}\n\n{code}\n\n{table}\n\n{text}" for i in range(34)]
    return "<|channel|>final<|message|>" + "\n\n".join(parts) + "<|return|>"


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def measure_visits(page: Page, server: ScriptedServer) -> None:
    for visit in range(NUM_VISITS):
        page.open(server.url)
        page.wait_text("#status", "Idle")
        time.sleep(0.5)
        paint, size = page.js(
            "return [performance.getEntriesByName('first-contentful-paint')[0].startTime,"
            "performance.getEntriesByType('resource').concat("
            "performance.getEntriesByType('navigation')).reduce((sum, e) => sum + e.transferSize, 0)]"
        )
        kind = "first visit" if visit == 0 else "visit with a filled cache"
        print(f"{kind}: first paint after {paint:.0f} ms, {size / 1000:.1f} kB transferred")


def measure_answer(page: Page, server: ScriptedServer) -> None:
    server.say(long_answer())
    server.allow_steps(0)
    page.js(WATCH_FRAMES)
    page.ask("Write.")
    begin = time.monotonic()
    for _ in range(20_000 // STEPS_AT_ONCE):
        server.allow_steps(STEPS_AT_ONCE)
        time.sleep(PAUSE_S)
    server.allow_steps(None)
    page.wait_answer()
    print(f"long answer: {page.text('.figures')}, in {time.monotonic() - begin:.0f} s")
    gaps = sorted(page.js("return window.gaps.slice(10)"))
    tasks = page.js("return window.tasks")
    print(
        f"long answer: {len(gaps)} frames, apart by {gaps[len(gaps) // 2]:.1f} ms in the median,"
        f" {gaps[len(gaps) * 99 // 100]:.1f} ms for all but 1 %, {gaps[-1]:.0f} ms at most;"
        f" {len(tasks)} tasks of the page took more than 50 ms"
    )


def measure_idle(server: ScriptedServer) -> None:
    before = cpu_seconds(server.process.pid)
    time.sleep(IDLE_S)
    used = cpu_seconds(server.process.pid) - before
    print(f"idle server with a watcher: {100 * used / IDLE_S:.2f} % of a core")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    default = ROOT / "build" / "release" / "scripted_server"
    parser.add_argument("--binary", type=Path, default=default)
    server = ScriptedServer(parser.parse_args().binary, "")
    driver = start_chromium()
    try:
        page = Page(driver)
        page.resize((1280, 900))
        measure_visits(page, server)
        measure_answer(page, server)
        measure_idle(server)
    finally:
        driver.quit()
        server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
