// One message on the page. An assistant's message can be updated while it comes in; the others are
// made once.

import { el, icon, iconButton, setChildren } from "../base/dom.js";
import { count, duration, plural, rate } from "../base/format.js";
import { MarkdownStream } from "../markdown/stream.js";
import { tokenView } from "./token_view.js";
import { callCard, resultCard } from "./tool_calls.js";

const FINISH = {
  length: "ended at the token limit",
  stopped: "stopped by you",
};

function versions(message, siblings, onshow) {
  if (siblings.length < 2) return null;
  const at = siblings.indexOf(message);
  const step = (to, name, label) => {
    const button = iconButton(name, label, () => onshow(siblings[to]));
    button.disabled = to < 0 || to >= siblings.length;
    return button;
  };
  return el(
    "span.versions",
    { role: "group", "aria-label": "Versions" },
    step(at - 1, "left", "Previous version"),
    el("span", {}, `${at + 1} / ${siblings.length}`),
    step(at + 1, "right", "Next version"),
  );
}

function editForm(message, onsend, oncancel) {
  const area = el("textarea", { rows: Math.min(12, message.content.split("\n").length + 1), "aria-label": "Edited message" });
  area.value = message.content;
  return el(
    "form.edit-form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        if (area.value.trim() !== "") onsend(area.value);
      },
      onkeydown: (event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          oncancel();
        } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.currentTarget.requestSubmit();
        }
      },
    },
    area,
    el(
      "div.form-actions",
      {},
      el("button.quiet", { type: "button", onclick: oncancel }, "Cancel"),
      el("button.primary", { type: "submit" }, "Send as new version"),
    ),
  );
}

// Callbacks: onshow(sibling), onedit(message, text), oncopy(message).
export function userMessage(message, siblings, callbacks) {
  const text = el("div.bubble", {}, message.content);
  const holder = el("div.user-body", {}, text);
  const article = el(
    "article.message.is-user",
    { "aria-label": "You", "data-id": message.id },
    holder,
  );
  const edit = () => {
    const form = editForm(message, (value) => callbacks.onedit(message, value), () => setChildren(holder, [text]));
    setChildren(holder, [form]);
    form.querySelector("textarea").focus();
  };
  article.append(
    el(
      "div.message-tools",
      {},
      versions(message, siblings, callbacks.onshow),
      iconButton("edit", "Edit and branch", edit, ".edit-message"),
      iconButton("copy", "Copy the message", () => callbacks.oncopy(message.content)),
    ),
  );
  article.startEdit = edit;
  return article;
}

export function toolMessage(message) {
  return el(
    "article.message.is-tool",
    { "aria-label": `Result of ${message.name ?? "a tool"}`, "data-id": message.id },
    resultCard(message),
  );
}

export class AssistantMessage {
  // Callbacks: onshow(sibling), onagain(message, recordTokens), oncopy(text), oncommand(message, kind).
  constructor(message, callbacks) {
    this.message = message;
    this.callbacks = callbacks;
    this.showsTokens = false;
    this.thought = el("div.thought-text");
    this.thoughtTitle = el("span", {}, "Thinking");
    this.thinking = el(
      "details.thinking",
      { hidden: true },
      el("summary", {}, icon("down"), this.thoughtTitle),
      this.thought,
    );
    this.content = el("div.markdown");
    this.markdown = new MarkdownStream(this.content);
    this.thoughtMarkdown = new MarkdownStream(this.thought);
    this.body = el("div.answer-body", {}, this.content);
    this.calls = el("div.calls");
    this.trouble = el("p.trouble", { role: "alert", hidden: true });
    this.figures = el("p.figures");
    this.tools = el("div.message-tools");
    this.element = el(
      "article.message.is-assistant",
      { "aria-label": "Answer", "data-id": message.id },
      this.thinking,
      this.body,
      this.calls,
      this.trouble,
      el("div.answer-foot", {}, this.figures, this.tools),
    );
  }

  // While the answer comes in.
  update() {
    const { message } = this;
    this.element.classList.add("is-running");
    this.element.setAttribute("aria-busy", "true");
    this.showThinking(true);
    this.thoughtMarkdown.update(message.reasoning);
    this.markdown.update(message.content);
    this.showCalls();
    this.showFigures();
  }

  // Once it has ended.
  finish(siblings) {
    const { message } = this;
    this.element.classList.remove("is-running");
    this.element.removeAttribute("aria-busy");
    this.showThinking(false);
    this.thoughtMarkdown.finish(message.reasoning);
    this.markdown.finish(message.content);
    this.showCalls();
    this.trouble.hidden = !message.error;
    this.trouble.textContent = message.error ?? "";
    this.showFigures();
    const buttons = el("button.token-toggle.icon-button", {
      type: "button",
      "aria-label": "Tokens",
      title: "Tokens and their probabilities",
      "aria-pressed": "false",
      onclick: () => this.toggleTokens(),
    }, icon("tokens"));
    this.tokenButton = buttons;
    setChildren(this.tools, [
      versions(message, siblings, this.callbacks.onshow),
      iconButton("again", "Regenerate", () => this.callbacks.onagain(message, false), ".regenerate"),
      message.content === "" ? null : buttons,
      iconButton("copy", "Copy the answer", () => this.callbacks.oncopy(message.content)),
      el("button.quiet.command", { type: "button", onclick: () => this.callbacks.oncommand(message, "curl") }, "curl"),
      el("button.quiet.command", { type: "button", onclick: () => this.callbacks.oncommand(message, "Python") }, "Python"),
    ]);
  }

  showThinking(isRunning) {
    const { message } = this;
    this.thinking.hidden = message.reasoning === "";
    const isThinking = isRunning && message.content === "" && !message.toolCalls;
    const number = message.stats?.numReasoning;
    this.thoughtTitle.textContent = isThinking
      ? "Thinking…"
      : number > 0
        ? `Thought for ${plural(number, "token")}`
        : "Thoughts";
    this.element.classList.toggle("is-waiting", isRunning && message.content === "" && message.reasoning === "" && !message.toolCalls);
  }

  showCalls() {
    const calls = this.message.toolCalls ?? [];
    const key = JSON.stringify(calls);
    if (key === this.shownCalls) return;
    this.shownCalls = key;
    setChildren(this.calls, calls.map(callCard));
  }

  showFigures() {
    const { stats, finish } = this.message;
    if (!stats || stats.numTokens === 0) {
      this.figures.textContent = FINISH[finish] ?? "";
      return;
    }
    const parts = [
      plural(stats.numTokens, "token"),
      stats.rate ? `${rate(stats.rate)} tokens/s` : null,
      `first after ${duration(stats.firstToken)}`,
      `prompt ${count(stats.numPrompt)}`,
      FINISH[finish],
    ];
    this.figures.textContent = parts.filter(Boolean).join(" · ");
  }

  toggleTokens() {
    this.showsTokens = !this.showsTokens;
    this.tokenButton.setAttribute("aria-pressed", String(this.showsTokens));
    if (!this.showsTokens) {
      setChildren(this.body, [this.content]);
    } else if (this.message.tokens?.length > 0) {
      setChildren(this.body, [tokenView(this.message.tokens)]);
    } else {
      const again = el(
        "button.primary",
        { type: "button", onclick: () => this.callbacks.onagain(this.message, true) },
        "Regenerate with probabilities",
      );
      setChildren(this.body, [
        this.content,
        el("div.hint-box", {}, el("p", {}, "The tokens of this answer were not recorded."), again),
      ]);
    }
  }
}
