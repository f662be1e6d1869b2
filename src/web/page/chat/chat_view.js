// The chat: which conversation is shown, which answer is under way, what the buttons do.

import { listModels, server } from "../base/api.js";
import { confirmDialog } from "../base/dialog.js";
import { el, icon } from "../base/dom.js";
import { copyText, notify } from "../base/notices.js";
import { runAnswer } from "./answer.js";
import { Composer } from "./composer.js";
import { addMessage, newConversation, newestLeaf, openCalls, pathTo } from "./conversation.js";
import { readConversations, saveToFile } from "./files.js";
import { asCurl, asPython, buildRequest } from "./request.js";
import { onChange, settings } from "./settings.js";
import { meetSettings, settingsPanel } from "./settings_panel.js";
import { Sidebar } from "./sidebar.js";
import * as store from "./store.js";
import { Transcript } from "./transcript.js";

const IDEAS = [
  "Why is the sky blue?",
  "Write a haiku about a compiler.",
  "Explain paged attention with a small table.",
  "Plan a three-day walk in the Alps.",
];

export class ChatView {
  constructor(root) {
    this.root = root;
    this.conversations = [];
    this.current = newConversation();
    this.running = null; // {message, conversation, abort}
    this.composer = new Composer({
      onsend: (text) => this.ask(text),
      onstop: () => this.stop(),
      onrecall: () => this.transcript.editLast(),
    });
    this.transcript = new Transcript({
      onshow: (message) => this.showVersion(message),
      onedit: (message, text) => this.ask(text, message.parent),
      onagain: (message, recordTokens) => this.answer(message.parent, recordTokens),
      onresults: (message, results) => this.sendResults(message, results),
      oncopy: (text) => copyText(text, "the text"),
      oncommand: (message, kind) => this.copyCommand(message, kind),
    });
    this.sidebar = new Sidebar({
      onnew: () => this.startNew(),
      onopen: (id) => this.open(id),
      ondelete: (id) => this.delete(id),
      onexport: () => saveToFile(this.conversations, this.current),
      onimport: (file) => this.import(file),
      onclose: () => this.toggleSidebar(false),
    });
    this.settingsButton = el(
      "button.quiet.open-settings",
      {
        type: "button",
        id: "open-settings",
        "aria-controls": "settings",
        "aria-expanded": "false",
        onclick: () => this.toggleSettings(),
      },
      icon("sliders"),
      el("span", {}, "Settings"),
    );
    this.inUse = el("p.in-use");
    this.settings = settingsPanel(() => this.toggleSettings(false));
    this.settings.hidden = true;
    root.append(
      this.sidebar.element,
      el(
        "div.chat-main",
        {},
        this.transcript.element,
        el("div.dock", {}, this.composer.element, el("div.dock-foot", {}, this.settingsButton, this.inUse)),
      ),
      this.settings,
    );
    onChange(() => this.showInUse());
    this.showInUse();
    this.show();
  }

  // Once the server has been met.
  async start() {
    meetSettings(this.settings);
    this.showInUse();
    try {
      const kept = await store.loadAll();
      // A quick user may have begun one meanwhile.
      const begun = this.conversations;
      const isBegun = (conversation) => begun.some((other) => other.id === conversation.id);
      this.conversations = [...begun, ...kept.filter((conversation) => !isBegun(conversation))];
    } catch {
      notify("This browser keeps no data for this page: conversations are lost when it closes.", { isError: true });
    }
    if (this.conversations.length > 0 && this.current.leaf === null) this.current = this.conversations[0];
    this.show();
  }

  // What is switched on and easily forgotten.
  showInUse() {
    const parts = [];
    if (server.reasoningEffort) parts.push(`effort ${settings.effort}`);
    if (settings.temperature !== "") parts.push(`temperature ${settings.temperature}`);
    if (settings.system.trim() !== "") parts.push("system prompt");
    if (settings.toolsOn && settings.tools.trim() !== "") parts.push("tools");
    if (settings.schemaOn && server.structuredOutput) parts.push("JSON schema");
    if (settings.recordTokens) parts.push("token probabilities");
    this.inUse.textContent = parts.join(" · ");
  }

  show() {
    const running = this.running?.conversation === this.current ? this.running.message : null;
    this.transcript.show(this.current, running, this.welcome());
    this.sidebar.show(this.conversations, this.current.id);
    this.composer.setBusy(this.running !== null);
  }

  welcome() {
    this.welcomeElement ??= el(
      "div.welcome",
      {},
      el("h1", {}, "What shall the model say?"),
      el("p", {}, "Conversations stay in this browser. Nothing on this page talks to any other server."),
      el(
        "ul.ideas",
        {},
        ...IDEAS.map((idea) => el("li", {}, el("button", { type: "button", onclick: () => this.ask(idea) }, idea))),
      ),
    );
    return this.welcomeElement;
  }

  async keep(conversation) {
    if (!this.conversations.includes(conversation)) this.conversations.unshift(conversation);
    this.conversations.sort((a, b) => b.updated - a.updated);
    try {
      await store.save(conversation);
    } catch (error) {
      notify(`The conversation could not be kept: ${error.message}`, { isError: true });
    }
  }

  // A new question below `parent` (the end, when there is none), and its answer.
  ask(text, parent = this.current.leaf) {
    if (this.isBusy()) return;
    addMessage(this.current, parent, { role: "user", content: text });
    this.transcript.jumpToEnd();
    this.answer(this.current.leaf);
  }

  sendResults(message, results) {
    for (const { call, content } of results) {
      addMessage(this.current, this.current.leaf, {
        role: "tool",
        content,
        toolCallId: call.id,
        name: call.name,
      });
    }
    if (openCalls(this.current, message).length === 0) this.answer(this.current.leaf);
    else this.show();
  }

  async model() {
    if (settings.model !== "" && this.models?.includes(settings.model)) return settings.model;
    this.models = (await listModels()).map((model) => model.id);
    return this.models.includes(settings.model) ? settings.model : this.models[0];
  }

  // Lets the model answer what stands at `parent`, as a new version where there is one already.
  async answer(parent, recordTokens = false) {
    if (this.isBusy()) return;
    const conversation = this.current;
    const message = addMessage(conversation, parent, { role: "assistant", content: "", reasoning: "" });
    const abort = new AbortController();
    this.running = { message, conversation, abort };
    this.show();
    this.transcript.update(message);
    this.keep(conversation);
    try {
      const body = buildRequest(pathTo(conversation, parent), settings, await this.model());
      message.request = body;
      await runAnswer(body, message, {
        signal: abort.signal,
        recordTokens: recordTokens || settings.recordTokens,
        onChange: () => this.transcript.update(message),
      });
    } catch (error) {
      message.error = error.message;
    }
    this.running = null;
    conversation.updated = Date.now();
    this.keep(conversation);
    this.show();
    if (document.activeElement === document.body) this.composer.focus();
  }

  stop() {
    this.running?.abort.abort();
  }

  // One answer at a time; says so when there is one.
  isBusy() {
    if (this.running) notify("An answer is still coming in. Stop it first.");
    return this.running !== null;
  }

  showVersion(message) {
    if (this.isBusy()) return;
    this.current.leaf = newestLeaf(this.current, message.id);
    this.keep(this.current);
    this.show();
  }

  copyCommand(message, kind) {
    if (!message.request) {
      notify("The request of this answer is not known.", { isError: true });
      return;
    }
    copyText(kind === "curl" ? asCurl(message.request) : asPython(message.request), `the ${kind} command`);
  }

  startNew() {
    if (this.current.leaf !== null) this.current = newConversation();
    this.toggleSidebar(false);
    this.show();
    this.composer.focus();
  }

  open(id) {
    this.current = this.conversations.find((conversation) => conversation.id === id) ?? newConversation();
    this.toggleSidebar(false);
    this.show();
    this.transcript.jumpToEnd();
  }

  async delete(id) {
    const conversation = this.conversations.find((other) => other.id === id);
    const title = conversation.title || "New chat";
    if (!(await confirmDialog("Delete this conversation?", `“${title}” is removed from this browser.`, "Delete"))) return;
    if (this.running?.conversation === conversation) this.stop();
    this.conversations = this.conversations.filter((other) => other !== conversation);
    if (this.current === conversation) this.current = newConversation();
    await store.remove(id);
    this.show();
  }

  async import(file) {
    try {
      const read = await readConversations(file);
      for (const conversation of read) await this.keep(conversation);
      this.current = read[0];
      this.show();
      notify(`Imported ${read.length === 1 ? "a conversation" : `${read.length} conversations`}.`);
    } catch (error) {
      notify(error.message, { isError: true });
    }
  }

  toggleSettings(shows = this.settings.hidden) {
    this.settings.hidden = !shows;
    this.settingsButton.setAttribute("aria-expanded", String(shows));
    if (shows) this.settings.querySelector("select, textarea, input")?.focus();
    else this.settingsButton.focus();
  }

  // On narrow screens the sidebar lies over the chat.
  toggleSidebar(shows = !this.root.classList.contains("shows-sidebar")) {
    this.root.classList.toggle("shows-sidebar", shows);
  }
}
