// An answer as the tokens it was drawn in. The less likely a token was, the stronger its ground; the
// one under the pointer, or under the keyboard's cursor, is explained.

import { el, setChildren } from "../base/dom.js";
import { percent } from "../base/format.js";

// Probabilities at which the ground gets one step stronger.
const STEPS = [0.95, 0.8, 0.5, 0.2, 0.05];

function shown(text) {
  return text.replaceAll("\n", "↵\n").replaceAll("\t", "⇥") || "∅";
}

function spelled(token) {
  if (token.text.includes("\ufffd") && token.bytes?.length > 0) {
    return token.bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  }
  return JSON.stringify(token.text);
}

function strengthOf(logprob) {
  const probability = Math.exp(logprob);
  return STEPS.filter((step) => probability < step).length;
}

function explain(token, at) {
  const rows = token.others.map(([text, logprob, id]) => {
    const share = Math.exp(logprob);
    const bar = el("meter", { min: 0, max: 1, value: share, "aria-label": percent(share) });
    const isDrawn = text === token.text && logprob === token.logprob;
    return el(
      isDrawn ? "tr.is-drawn" : "tr",
      {},
      el("td.token-text", { translate: "no" }, JSON.stringify(text)),
      el("td.number", {}, id === null ? "" : String(id)),
      el("td", {}, bar),
      el("td.number", {}, percent(share)),
    );
  });
  return [
    el(
      "p.token-head",
      {},
      el("code", { translate: "no" }, spelled(token)),
      el("span", {}, token.id === null ? `token ${at + 1}` : `id ${token.id}`),
      el("span", {}, `${percent(Math.exp(token.logprob))}, logprob ${token.logprob.toFixed(3)}`),
    ),
    rows.length > 0
      ? el(
          "table.token-table",
          {},
          el("caption", {}, "Most likely here"),
          el("tbody", {}, ...rows),
        )
      : null,
  ];
}

export function tokenView(tokens) {
  const card = el("div.token-card", { "aria-live": "polite", hidden: true });
  const spans = tokens.map((token) =>
    el(`span.token.strength-${strengthOf(token.logprob)}`, {}, shown(token.text)),
  );
  const places = new Map(spans.map((span, at) => [span, at]));
  let current = -1;
  const select = (at) => {
    if (at < 0 || at >= tokens.length || at === current) return;
    spans[current]?.classList.remove("is-current");
    current = at;
    spans[at].classList.add("is-current");
    card.hidden = false;
    setChildren(card, explain(tokens[at], at));
  };
  const text = el(
    "div.tokens",
    {
      tabindex: 0,
      role: "group",
      "aria-label": "Tokens of the answer; the arrow keys go from one to the next",
      onpointerover: (event) => {
        const at = places.get(event.target);
        if (at !== undefined) select(at);
      },
      onkeydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        select(Math.max(0, current + step));
        spans[current]?.scrollIntoView({ block: "nearest" });
      },
    },
    ...spans,
  );
  return el("div.token-view", {}, text, card);
}
