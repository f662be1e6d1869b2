"""What the page looks like: dark and light, wide and narrow, to those who do not see it."""

import pytest
from browser import Page
from rapt_process import ScriptedServer
from test_page_chat import NUM_HEADER_TOKENS, final, thought

ANSWER = """## A heading

Text with `code`, **weight**, a [link](https://example.org/) and ~~a mistake~~.

```python
a_long_line = "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789"
```

| a | b | c |
|---|:-:|--:|
| a_rather_long_word_in_a_cell | another_rather_long_word_in_a_cell | 1 |

1. one
2. two
   - inside
- [x] done
- [ ] open

> A quotation.

\\[ x^2 + y^2 = z^2 \\]
"""


def say_much(page: Page, server: ScriptedServer) -> None:
    server.say(thought("A short thought.") + final(ANSWER))
    page.ask("Show me everything, averyverylongwordthatdoesnotfit" + "x" * 60)
    page.wait_answer("A heading")
    page.click(".thinking summary")


def ground(page: Page) -> tuple[int, ...]:
    color = page.js("return getComputedStyle(document.body).backgroundColor")
    return tuple(int(number) for number in color[4:-1].split(","))


def test_colours_follow_the_system_and_the_button(page: Page):
    assert min(ground(page)) > 200
    page.prefer("dark")
    assert max(ground(page)) < 60
    page.click("#toggle-theme")  # light, whatever the system says
    assert min(ground(page)) > 200
    page.click("#toggle-theme")  # dark
    page.prefer("light")
    assert max(ground(page)) < 60
    page.load()
    page.wait_text("#status", "Idle")
    assert max(ground(page)) < 60
    page.click("#toggle-theme")  # as the system
    assert min(ground(page)) > 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(page: Page, server: ScriptedServer, scheme: str):
    page.prefer(scheme)
    assert page.axe_faults() == [], "the empty page"
    say_much(page, server)
    assert page.axe_faults() == [], "an answer"
    page.settings()
    assert page.axe_faults() == [], "settings"
    page.settings(False)
    page.click("#show-help")
    assert page.axe_faults() == [], "a dialog"
    page.click("dialog .icon-button")
    server.say(final("one two three"))
    server.allow_steps(NUM_HEADER_TOKENS + 2)
    page.ask("Count.")
    page.wait_text(".is-running .markdown", "one two")
    page.click("#tab-engine")
    page.wait_text(".requests .phase", "decode")
    assert page.axe_faults() == [], "the engine"
    server.allow_steps(None)
    page.wait_text(".request-card", "Nothing runs.")


def test_narrow_screen(narrow_page: Page, server: ScriptedServer):
    page = narrow_page
    assert not page.scrolls_sideways()
    say_much(page, server)
    assert not page.scrolls_sideways()
    # The list of conversations comes when it is wanted.
    assert not page.all("#sidebar")[0].is_displayed()
    page.click("#open-sidebar")
    page.wait_text(".conversation", "Show me everything")
    page.click("#new-chat")
    page.wait_gone("#sidebar")
    page.settings()
    assert not page.scrolls_sideways()
    page.click("#settings .icon-button")
    page.click("#tab-engine")
    page.wait_text(".memory", "Weights")
    assert not page.scrolls_sideways()
    assert page.axe_faults() == []


def test_first_visit_is_small_and_stays_here(page: Page):
    entries = page.js(
        "return performance.getEntriesByType('resource').concat("
        "performance.getEntriesByType('navigation')).map((e) => [e.name, e.encodedBodySize])"
    )
    assert len(entries) > 10
    assert sum(size for _, size in entries) < 600_000
    assert all(name.startswith(page.url) for name, _ in entries)
    assert page.foreign_requests() == []
