"""A headless Chromium, and how the tests look at and use the page in it."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from axe_playwright_python.base import AXE_FILE_PATH
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

# Generous: a busy machine is slow, and a test that passes never waits so long.
PATIENCE_S = 60
WIDE, NARROW = (1280, 900), (390, 844)


def find_program(*names: str) -> str:
    for name in names:
        if path := shutil.which(name):
            return path
    raise RuntimeError(f"{names[0]} is not there; tools/packages.txt says what the tests need")


def start_chromium(size: tuple[int, int] = WIDE, dark: bool = False) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = find_program("chromium", "chromium-browser", "google-chrome")
    options.add_argument("--headless=new")
    options.add_argument("--disable-dev-shm-usage")
    options.add_argument("--hide-scrollbars")
    options.add_argument("--lang=en-US")
    options.add_argument(f"--window-size={size[0]},{size[1]}")
    if dark:
        options.add_argument("--force-dark-mode")
        options.add_argument("--blink-settings=preferredColorScheme=0")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(find_program("chromedriver")))
    driver.set_script_timeout(PATIENCE_S)
    return driver


class Page:
    """The page in one browser window."""

    def __init__(self, driver: webdriver.Chrome):
        self.driver = driver
        self.url = ""

    def resize(self, size: tuple[int, int]) -> None:
        """Sets what the page itself sees as its size."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False},
        )

    def prefer(self, scheme: str) -> None:
        """What the system's colours are: "light" or "dark"."""
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )

    def open(self, url: str, view: str = "") -> None:
        """Loads the page afresh, with nothing kept from before."""
        self.url = url
        self.driver.get("about:blank")
        self.driver.execute_cdp_cmd(
            "Browser.grantPermissions",
            {"origin": url, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
        )
        for kept in ("local_storage", "indexeddb"):
            self.driver.execute_cdp_cmd(
                "Storage.clearDataForOrigin", {"origin": url, "storageTypes": kept}
            )
        self.drain_logs()
        self.driver.get_log("performance")
        self.load(view)

    def load(self, view: str = "") -> None:
        """Loads the page as a returning user does."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}/{view}")

    # ---- looking ----

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def js(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: Callable[[], object], what: str):
        """Waits until `condition` gives something true, and returns that."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                if found := condition():
                    return found
            except StaleElementReferenceException:
                pass  # the page has just drawn it anew
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: not within {PATIENCE_S} s\n{self.text()}")
            time.sleep(0.05)

    def find(self, css: str) -> WebElement:
        """The first visible element, waited for."""
        return self.wait(
            lambda: next((e for e in self.all(css) if e.is_displayed()), None), f"{css} is visible"
        )

    def wait_text(self, css: str, text: str) -> None:
        self.wait(
            lambda: any(text in e.text for e in self.all(css)), f"{css} says {text!r}"
        )

    def wait_gone(self, css: str) -> None:
        self.wait(
            lambda: not any(e.is_displayed() for e in self.all(css)), f"{css} goes away"
        )

    def text(self, css: str = "body") -> str:
        return "\n".join(element.text for element in self.all(css))

    # ---- doing ----

    def click(self, css: str) -> None:
        def attempt():
            element = next((e for e in self.all(css) if e.is_displayed() and e.is_enabled()), None)
            if element is None:
                return False
            self.js("arguments[0].scrollIntoView({block: 'center'})", element)
            element.click()
            return True

        self.wait(attempt, f"{css} can be clicked")

    def fill(self, css: str, text: str) -> None:
        field = self.find(css)
        field.clear()
        field.send_keys(text)

    def ask(self, text: str) -> None:
        """Sends a message in the chat."""
        self.wait(lambda: not self.is_busy(), "the last answer ends")
        self.fill("#composer", text)
        self.find("#composer").send_keys(Keys.ENTER)

    def is_busy(self) -> bool:
        return self.js("return document.querySelector('#send').ariaLabel === 'Stop'")

    def wait_answer(self, text: str = "") -> None:
        """Waits for the end of the answer under way."""
        self.wait_text(".is-assistant", text)
        self.wait(lambda: not self.is_busy(), "the answer ends")
        self.wait_gone(".is-running")

    def settings(self, shows: bool = True) -> None:
        if self.js("return document.querySelector('#settings').hidden") == shows:
            self.click("#open-settings")

    # ---- judging ----

    def drain_logs(self) -> list[dict]:
        return self.driver.get_log("browser")

    def console_errors(self, allowed: tuple[str, ...] = ()) -> list[str]:
        """What the console has complained about since the last look."""
        return [
            entry["message"]
            for entry in self.drain_logs()
            if entry["level"] in ("SEVERE", "WARNING")
            and not any(text in entry["message"] for text in allowed)
        ]

    def foreign_requests(self) -> list[str]:
        """Addresses asked for since the last look that are not the server's own."""
        urls = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        own = (self.url, "about:", "data:", "blob:", "chrome:")
        return [url for url in urls if not url.startswith(own)]

    def axe_faults(self) -> list[str]:
        """Serious and critical faults that axe finds in what is shown now."""
        if not self.js("return typeof window.axe !== 'undefined'"):
            self.driver.execute_cdp_cmd(
                "Runtime.evaluate", {"expression": Path(AXE_FILE_PATH).read_text()}
            )
        violations = self.driver.execute_async_script(
            "const done = arguments[0];"
            "axe.run(document, {resultTypes: ['violations']})"
            ".then((result) => done(result.violations), (error) => done([{id: String(error),"
            " impact: 'critical', nodes: []}]));"
        )
        return [
            f"{fault['id']} ({fault['impact']}): "
            + "; ".join(
                f"{node['target']} {node.get('failureSummary', '')}" for node in fault["nodes"][:5]
            )
            for fault in violations
            if fault["impact"] in ("serious", "critical")
        ]

    def scrolls_sideways(self) -> bool:
        return self.js(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
