// The calls of an answer, and the form in which a person answers for the tools.

import { el } from "../base/dom.js";

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // still coming in, or no JSON: shown as it is
  }
}

export function callCard(call) {
  return el(
    "div.call",
    {},
    el("p.call-head", {}, "Call of ", el("code", { translate: "no" }, call.name)),
    el("pre.call-arguments", { tabindex: 0 }, pretty(call.arguments)),
  );
}

export function resultCard(message) {
  return el(
    "div.call.is-result",
    {},
    el("p.call-head", {}, "Result of ", el("code", { translate: "no" }, message.name ?? "the tool")),
    el("pre.call-arguments", { tabindex: 0 }, message.content),
  );
}

// Fields for the results of `calls`. `onsend` gets [{call, content}].
export function resultForm(calls, onsend) {
  const fields = calls.map((call, at) => {
    const area = el("textarea.code-area", {
      rows: 3,
      id: `result-${call.id}-${at}`,
      placeholder: '{"temperature": 4}',
      required: true,
    });
    return { call, area };
  });
  const send = (event) => {
    event.preventDefault();
    onsend(fields.map(({ call, area }) => ({ call, content: area.value })));
  };
  return el(
    "form.result-form",
    {
      onsubmit: send,
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.currentTarget.requestSubmit();
        }
      },
    },
    ...fields.map(({ call, area }) =>
      el("label.field", {}, el("span", {}, "What ", el("code", {}, call.name), " answers"), area),
    ),
    el(
      "div.form-actions",
      {},
      el("button.primary", { type: "submit" }, calls.length === 1 ? "Send result" : "Send results"),
    ),
  );
}
