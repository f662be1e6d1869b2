"""Fixtures of the page's tests: a browser, and the server whose model says what a test wants.

RAPT_BINARY names the binary (default: build/release/rapt), RAPT_SCRIPTED_SERVER the scripted server
(default: beside that binary).
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from browser import NARROW, WIDE, Page, start_chromium  # noqa: E402
from rapt_process import ScriptedServer  # noqa: E402


@pytest.fixture(scope="session")
def binary() -> Path:
    path = Path(os.environ.get("RAPT_BINARY", ROOT / "build" / "release" / "rapt"))
    if not path.exists():
        pytest.fail(f"{path} is not there: build it, or name another with RAPT_BINARY")
    return path


@pytest.fixture(scope="session")
def scripted_binary(binary: Path) -> Path:
    path = Path(os.environ.get("RAPT_SCRIPTED_SERVER", binary.parent / "scripted_server"))
    if not path.exists():
        pytest.fail(f"{path} is not there: build it, or name another with RAPT_SCRIPTED_SERVER")
    return path


@pytest.fixture
def start_server(scripted_binary: Path) -> Iterator[Callable[..., ScriptedServer]]:
    """Starts servers of a test's own."""
    started: list[ScriptedServer] = []

    def start(api_key: str = "", port: int = 0, chat_template: str = "") -> ScriptedServer:
        process = ScriptedServer(scripted_binary, api_key, port, chat_template)
        started.append(process)
        return process

    yield start
    for process in started:
        process.stop()


@pytest.fixture(scope="session")
def shared_server(scripted_binary: Path) -> Iterator[ScriptedServer]:
    process = ScriptedServer(scripted_binary, "")
    yield process
    assert process.stop() == 0, process.log()


@pytest.fixture
def server(shared_server: ScriptedServer) -> Iterator[ScriptedServer]:
    """The server that tests share; whatever a test held is let go."""
    yield shared_server
    shared_server.allow_steps(None)


@pytest.fixture(scope="session")
def driver():
    made = start_chromium()
    yield made
    made.quit()


@pytest.fixture
def blank(driver) -> Page:
    """The page before it is loaded, on a wide screen with light colours."""
    page = Page(driver)
    page.resize(WIDE)
    page.prefer("light")
    return page


@pytest.fixture
def page(blank: Page, server: ScriptedServer) -> Iterator[Page]:
    """The page, freshly loaded. At the end of the test the console must be clean."""
    blank.open(server.url)
    blank.wait_text("#status", "Idle")
    yield blank
    assert blank.console_errors() == []


@pytest.fixture
def narrow_page(page: Page) -> Page:
    page.resize(NARROW)
    return page
