// The messages of the conversation that is shown, and where the page is scrolled to.

import { el, setChildren } from "../base/dom.js";
import { openCalls, pathTo, siblingsOf } from "./conversation.js";
import { AssistantMessage, toolMessage, userMessage } from "./message_view.js";
import { resultForm } from "./tool_calls.js";

const NEAR_END = 80; // pixels

export class Transcript {
  // Callbacks: those of the messages, and onresults(message, [{call, content}]).
  constructor(callbacks) {
    this.callbacks = callbacks;
    this.views = new Map(); // message id -> {element, view, key}
    this.list = el("div.messages");
    this.element = el("div.transcript", { id: "transcript", tabindex: -1 }, this.list);
    this.sticks = true;
    this.element.addEventListener("scroll", () => {
      const { scrollHeight, scrollTop, clientHeight } = this.element;
      this.sticks = scrollHeight - scrollTop - clientHeight < NEAR_END;
    });
    new ResizeObserver(() => this.follow()).observe(this.list);
  }

  // Stays at the end while the end moves, unless the reader has gone up.
  follow() {
    if (this.sticks) this.element.scrollTop = this.element.scrollHeight;
  }

  jumpToEnd() {
    this.sticks = true;
    this.follow();
  }

  // `running`: the message that is coming in, if any. `welcome` is shown when there is nothing.
  show(conversation, running, welcome) {
    const path = pathTo(conversation, conversation.leaf);
    const kept = new Map();
    const elements = path.map((message) => {
      const siblings = siblingsOf(conversation, message);
      const key = siblings.length;
      let entry = this.views.get(message.id);
      const isRunning = message === running;
      if (!entry || entry.message !== message || (entry.key !== key && message.role === "user")) {
        entry = { message, key, ...this.make(message, siblings) };
      }
      if (entry.view && !isRunning && (entry.isRunning !== false || entry.key !== key)) {
        entry.view.finish(siblings);
      }
      entry.isRunning = isRunning;
      entry.key = key;
      kept.set(message.id, entry);
      return entry.element;
    });
    this.views = kept;
    const last = path.at(-1);
    const calls = last && last !== running && last.role !== "user" ? this.callsToAnswer(conversation, path) : null;
    setChildren(this.list, [...(elements.length > 0 ? elements : [welcome]), calls]);
    this.follow();
  }

  make(message, siblings) {
    if (message.role === "user") return { element: userMessage(message, siblings, this.callbacks) };
    if (message.role === "tool") return { element: toolMessage(message) };
    const view = new AssistantMessage(message, this.callbacks);
    return { view, element: view.element };
  }

  callsToAnswer(conversation, path) {
    const asking = path.findLast((message) => message.role === "assistant");
    const calls = asking ? openCalls(conversation, asking) : [];
    if (calls.length === 0) {
      this.form = null;
      return null;
    }
    // The same form as before, with what has been typed into it.
    if (this.form?.asking !== asking) {
      this.form = { asking, element: resultForm(calls, (results) => this.callbacks.onresults(asking, results)) };
    }
    return this.form.element;
  }

  update(message) {
    this.views.get(message.id)?.view?.update();
  }

  // Begins to edit the last question.
  editLast() {
    [...this.list.querySelectorAll(".is-user")].at(-1)?.startEdit();
  }
}
