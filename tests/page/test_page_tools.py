"""Tools in the chat: definitions, calls, results by hand."""

import json

from browser import Page
from rapt_process import ScriptedServer
from selenium.webdriver.common.keys import Keys
from test_page_chat import final, thought

TOOLS = [
    {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
    {"type": "function", "function": {"name": "get_time", "description": "Tells the time."}},
]


def call(name: str, arguments: dict, end: str = "<|call|>") -> str:
    return (
        f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>"
        f"{json.dumps(arguments)}{end}"
    )


def offer(page: Page, tools: list[dict]) -> None:
    page.settings()
    page.click("#setting-toolsOn")
    page.fill("#setting-tools", json.dumps(tools))
    page.settings(False)


def test_tools_by_hand(page: Page, server: ScriptedServer):
    offer(page, TOOLS)
    assert "tools" in page.text(".in-use")
    two_calls = (
        thought("Both.")
        + call("get_weather", {"city": "Oslo"}, "<|end|><|start|>assistant")
        + call("get_time", {})
    )
    server.say(two_calls, final("4 degrees at noon."))
    page.ask("How is Oslo?")
    page.wait(lambda: len(page.all(".result-form textarea")) == 2, "two results are asked for")
    assert [e.text for e in page.all(".call-head code")] == ["get_weather", "get_time"]
    assert '"city": "Oslo"' in page.text(".call-arguments")
    weather, time = page.all(".result-form textarea")
    weather.send_keys("4 degrees")
    time.send_keys("12:00", Keys.CONTROL, Keys.ENTER)
    page.wait_answer("4 degrees at noon.")
    assert page.text(".is-result .call-arguments").split("\n") == ["4 degrees", "12:00"]
    assert page.all(".result-form") == []
    # The model has been sent the calls and their results.
    page.js("document.querySelector('.is-assistant:last-of-type .command').click()")
    request = page.driver.execute_async_script(
        "navigator.clipboard.readText().then(arguments[0])"
    )
    assert '"tool_call_id"' in request and '"content": "12:00"' in request
    # After a reload they are still there.
    page.load()
    page.wait_text(".is-assistant .markdown", "4 degrees at noon.")
    assert len(page.all(".is-result")) == 2


def test_wrong_definitions_are_named(page: Page, server: ScriptedServer):
    page.settings()
    page.fill("#setting-tools", "[{")
    page.wait_text(".complaint", "not valid JSON")
    page.fill("#setting-tools", '{"name": "a"}')
    page.wait_text(".complaint", "must be a list")
    page.fill("#setting-tools", "[{}]")
    page.wait_text(".complaint", "Tool 1 has no name")
    page.click(".settings .quiet")  # puts in an example
    page.wait(lambda: not page.text(".complaint").strip(), "the complaint goes")
    assert "get_weather" in page.find("#setting-tools").get_attribute("value")


def test_structured_output_follows_the_server(page: Page, server: ScriptedServer):
    can = page.js(
        "return fetch('assets/server.json').then((r) => r.json()).then((f) => f.structured_output)"
    )
    page.settings()
    box = page.wait(lambda: page.all("#setting-schemaOn"), "the box is there")[0]
    assert box.is_enabled() == can
    assert ("does not support it yet" in page.text("#settings")) != can
