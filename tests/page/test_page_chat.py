"""The chat, over a model that says what each test wants."""

import json
import re

import pytest
from browser import Page
from rapt_process import ScriptedServer
from selenium.webdriver.common.keys import Keys


def final(text: str) -> str:
    return f"<|channel|>final<|message|>{text}<|return|>"


def thought(text: str) -> str:
    return f"<|channel|>analysis<|message|>{text}<|end|><|start|>assistant"


# Tokens before the first one of the text in final().
NUM_HEADER_TOKENS = 3


def clipboard(page: Page) -> str:
    return page.driver.execute_async_script(
        "navigator.clipboard.readText().then(arguments[0], (e) => arguments[0](String(e)))"
    )


def test_question_and_answer(page: Page, server: ScriptedServer):
    server.say(thought("Hm, **think**.") + final("It is *blue*.\n\n- one\n- two"))
    page.ask("Why is the sky blue?")
    page.wait_answer("It is blue.")
    assert page.text(".is-user .bubble") == "Why is the sky blue?"
    assert [e.text for e in page.all(".is-assistant .markdown li")] == ["one", "two"]
    assert page.text(".is-assistant .markdown em") == "blue"
    # The thinking is folded, and says how long it was.
    assert re.match(r"Thought for \d+ tokens", page.text(".thinking summary"))
    assert page.text(".thought-text") == ""
    page.click(".thinking summary")
    page.wait_text(".thought-text", "Hm, think.")
    # An answer that comes all at once has no rate.
    figures = r"\d+ tokens · (.*tokens/s · )?first after .*s · prompt \d+"
    assert re.search(figures, page.text(".figures"))
    assert page.text(".conversation") == "Why is the sky blue?"


def test_answer_comes_piece_by_piece(page: Page, server: ScriptedServer):
    server.say(final("one two three four five six"))
    server.allow_steps(NUM_HEADER_TOKENS + 2)
    page.ask("Count.")
    page.wait_text(".is-running .markdown", "one two")
    assert "three" not in page.text(".is-running .markdown")
    page.wait_text("#status", "1 running")
    server.allow_steps(2)
    page.wait_text(".is-running .markdown", "one two three four")
    assert "five" not in page.text(".is-running .markdown")
    server.allow_steps(None)
    page.wait_answer("one two three four five six")
    page.wait_text("#status", "Idle")


@pytest.mark.parametrize("way", ["button", "key"])
def test_stop(page: Page, server: ScriptedServer, way: str):
    server.say(final("one two three four"), final("Again."))
    server.allow_steps(NUM_HEADER_TOKENS + 2)
    page.ask("Count.")
    page.wait_text(".is-running .markdown", "one two")
    if way == "button":
        page.click("#send")
    else:
        page.find("#composer").send_keys(Keys.ESCAPE)
    page.wait_answer("one two")
    assert "stopped by you" in page.text(".figures")
    server.allow_steps(None)
    page.wait_text("#status", "Idle")  # the engine has stopped too
    page.ask("And now?")
    page.wait_answer("Again.")


def test_regenerate_makes_a_version(page: Page, server: ScriptedServer):
    server.say(final("First."), final("Second."))
    page.ask("Say something.")
    page.wait_answer("First.")
    page.click(".regenerate")
    page.wait_answer("Second.")
    assert page.text(".is-assistant .versions") == "2 / 2"
    page.click(".is-assistant [aria-label='Previous version']")
    page.wait_text(".is-assistant .markdown", "First.")
    assert page.text(".is-assistant .versions") == "1 / 2"


def test_edit_makes_a_branch(page: Page, server: ScriptedServer):
    server.say(final("To one."), final("To two."), final("To three."))
    page.ask("One?")
    page.wait_answer("To one.")
    page.ask("Two?")
    page.wait_answer("To two.")
    # The arrow up edits the last question.
    page.find("#composer").send_keys(Keys.ARROW_UP)
    area = page.find(".edit-form textarea")
    area.clear()
    area.send_keys("Three?", Keys.CONTROL, Keys.ENTER)
    page.wait_answer("To three.")
    assert [e.text for e in page.all(".bubble")] == ["One?", "Three?"]
    page.click(".is-user [aria-label='Previous version']")
    page.wait_text(".is-assistant", "To two.")
    assert [e.text for e in page.all(".bubble")] == ["One?", "Two?"]
    # Escape leaves an edit without a change.
    page.js("document.querySelector('.edit-message').click()")
    page.find(".edit-form textarea").send_keys("x", Keys.ESCAPE)
    page.wait_gone(".edit-form")
    assert [e.text for e in page.all(".bubble")] == ["One?", "Two?"]


def test_conversations_are_kept(page: Page, server: ScriptedServer):
    server.say(final("Kept."), final("Other."))
    page.ask("Keep this.")
    page.wait_answer("Kept.")
    page.click("#new-chat")
    page.wait_text("h1", "What shall the model say?")
    page.ask("Another.")
    page.wait_answer("Other.")
    page.load()
    page.wait_text(".is-assistant", "Other.")
    assert [e.text for e in page.all(".conversation")] == ["Another.", "Keep this."]
    page.click(".conversations li:nth-child(2) .conversation")
    page.wait_text(".is-assistant", "Kept.")
    page.js("document.querySelector('.conversations li:nth-child(2) .icon-button').click()")
    page.click("dialog .primary")
    page.wait(lambda: len(page.all(".conversation")) == 1, "the conversation is deleted")


def test_one_answer_at_a_time(page: Page, server: ScriptedServer):
    server.say(final("one two three"), final("Later."))
    server.allow_steps(NUM_HEADER_TOKENS + 2)
    page.ask("Count.")
    page.wait_text(".is-running .markdown", "one two")
    page.click("#new-chat")
    page.click(".ideas button")
    page.wait_text(".notice", "still coming in")
    assert page.is_busy() and not page.all(".message")
    server.allow_steps(None)
    page.wait(lambda: not page.is_busy(), "the answer ends")
    page.ask("Now?")
    page.wait_answer("Later.")
    page.click(".conversations li:nth-child(2) .conversation")
    page.wait_text(".is-assistant .markdown", "one two three")


def test_export_and_import(page: Page, server: ScriptedServer, tmp_path):
    server.say(final("Carry me."))
    page.ask("Pack.")
    page.wait_answer("Carry me.")
    page.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    page.click("#export")
    (file,) = page.wait(lambda: list(tmp_path.glob("rapt-*.json")), "the file is there")
    exported = page.wait(lambda: file.read_text(), "the file is written")
    assert json.loads(exported)["format"] == "rapt-conversations-1"
    page.js("document.querySelector('.conversations .icon-button').click()")
    page.click("dialog .primary")
    page.wait(lambda: not page.all(".conversation"), "the conversation is deleted")
    page.js("document.querySelector('#import-file').classList.remove('visually-hidden')")
    page.find("#import-file").send_keys(str(file))
    page.wait_text(".is-assistant", "Carry me.")
    # Something else is refused, in words.
    other = tmp_path / "other.json"
    other.write_text('{"a": 1}')
    page.find("#import-file").send_keys(str(other))
    page.wait_text(".notice", "was not exported by this page")


def test_settings_reach_the_server(page: Page, server: ScriptedServer):
    server.say(final("Settled."))
    page.settings()
    page.fill("#setting-temperature", "0.5")
    page.fill("#setting-topK", "40")
    page.fill("#setting-seed", "7")
    page.fill("#setting-stop", "Stop here")
    page.fill("#setting-system", "Be brief.")
    page.js("document.querySelector('input[name=effort][value=high]').click()")
    page.settings(False)
    assert "effort high · temperature 0.5 · system prompt" in page.text(".in-use")
    page.ask('Say "it\'s".')
    page.wait_answer("Settled.")
    page.click(".is-assistant .command:nth-of-type(4)")
    page.wait_text(".notice", "Copied")
    command = clipboard(page)
    assert command.startswith(f"curl {server.url}/v1/chat/completions ")
    body = json.loads(re.search(r"-d '(.*)'\n$", command, re.S)[1].replace("'\\''", "'"))
    assert body == {
        "model": "demo",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": 'Say "it\'s".'},
        ],
        "temperature": 0.5,
        "top_k": 40,
        "seed": 7,
        "stop": ["Stop here"],
        "reasoning_effort": "high",
    }


def test_effort_is_shown_where_the_model_knows_it(blank: Page, start_server):
    """A template without a word of it, and one that writes it into the prompt."""
    plain = "{% for m in messages %}{{ m.content }}{% endfor %}"
    for chat_template in [plain, plain + "{{ reasoning_effort }}"]:
        server: ScriptedServer = start_server(chat_template=chat_template)
        blank.open(server.url)
        blank.wait_text("#status", "Idle")
        knows_effort = chat_template != plain
        assert (blank.text(".in-use") == "effort medium") == knows_effort
        blank.settings()
        assert ("Reasoning effort" in blank.text("#settings")) == knows_effort
        blank.settings(False)
        server.say("Fine.")
        blank.ask("How are you?")
        blank.wait_answer("Fine.")
        blank.click(".is-assistant .command:nth-of-type(4)")
        blank.wait_text(".notice", "Copied")
        assert ("reasoning_effort" in clipboard(blank)) == knows_effort
    assert blank.console_errors() == []


def test_python_to_copy_runs(page: Page, server: ScriptedServer):
    server.say(final("From the page."), final("From Python: ünïcode."))
    page.settings()
    page.fill("#setting-topK", "40")
    page.settings(False)
    page.ask("It's \\ \"quoted\"\nok?".replace("\n", Keys.SHIFT + Keys.ENTER + Keys.NULL))
    page.wait_answer("From the page.")
    page.click(".is-assistant .command:last-of-type")
    page.wait_text(".notice", "Copied")
    said: list[str] = []
    exec(compile(clipboard(page), "copied", "exec"), {"print": said.append})  # noqa: S102
    assert said == ["From Python: ünïcode."]


def test_tokens_and_their_probabilities(page: Page, server: ScriptedServer):
    server.say(final("Hello world"), final("Hello world"))
    page.ask("Hi.")
    page.wait_answer("Hello world")
    page.click(".token-toggle")
    page.wait_text(".hint-box", "were not recorded")
    page.click(".hint-box .primary")
    page.wait_answer("Hello world")
    page.click(".token-toggle")
    page.find(".tokens").send_keys(Keys.ARROW_RIGHT)
    page.wait_text(".token-card", '"Hello"')
    assert re.search(r"id 13225\b", page.text(".token-card"))
    assert "90.5 %" in page.text(".token-card")  # the scripted engine's logprob is -0.1
    assert len(page.all(".token-table tr")) == 5
    page.find(".tokens").send_keys(Keys.ARROW_RIGHT)
    page.wait_text(".token-card", '" world"')
    page.click(".token-toggle")
    page.wait_text(".is-assistant .markdown", "Hello world")


def test_keys(page: Page, server: ScriptedServer):
    body = page.find("body")
    page.js("document.activeElement.blur()")
    body.send_keys("?")
    page.wait_text("dialog", "Keyboard")
    page.find("dialog button").send_keys(Keys.ESCAPE)
    page.wait_gone("dialog")
    page.js("document.activeElement.blur()")
    body.send_keys("e")
    page.wait_text("#engine-view h2", "Requests")
    body.send_keys("c")
    page.find("#composer")
    page.js("document.activeElement.blur()")
    body.send_keys("s")
    page.find("#settings")
    page.settings(False)
    page.js("document.activeElement.blur()")
    body.send_keys("/")
    server.say(final("Typed."))
    page.driver.switch_to.active_element.send_keys("Keys only", Keys.ENTER)
    page.wait_answer("Typed.")


def test_a_long_answer_stays_smooth(page: Page, server: ScriptedServer):
    # What has been said is not drawn again, however long the answer gets.
    paragraph = "The quick brown fox jumps over the lazy dog again and again. " * 8
    server.say(final("\n\n".join([paragraph] * 170) + "\n\nThe end."))
    page.ask("Write a lot.")
    page.wait(lambda: len(page.all(".is-assistant .markdown > p")) > 2, "the answer begins")
    page.js("window.firstParagraph = document.querySelector('.is-assistant .markdown > p')")
    # The page answers meanwhile.
    page.fill("#composer", "typed while it comes in")
    page.wait_answer("The end.")
    assert page.js("return window.firstParagraph.isConnected")
    assert len(page.all(".is-assistant .markdown > p")) == 171
    assert page.find("#composer").get_attribute("value") == "typed while it comes in"
    number = page.text(".figures").split(" tokens")[0]
    assert int(number.replace(",", "")) > 17_000


def test_refused_request_is_shown(page: Page, server: ScriptedServer):
    page.settings()
    page.js("const f = document.querySelector('#setting-topP'); f.value = '1.5';"
            "f.dispatchEvent(new Event('input'))")
    page.settings(False)
    page.ask("Hi.")
    page.wait_text(".trouble", "top_p")
    # The browser reports every refused request by itself.
    assert page.console_errors(allowed=("status of 400",)) == []
