// Starts the page: what stands at its top, which of the two views is shown, keys that work anywhere.

import { meetServer } from "./base/api.js";
import { showDialog } from "./base/dialog.js";
import { el, icon, setChildren } from "./base/dom.js";
import { startTheme } from "./base/theme.js";
import { ChatView } from "./chat/chat_view.js";
import { EngineFeed } from "./engine/engine_feed.js";
import { EngineView } from "./engine/engine_view.js";
import { showStatus } from "./engine/status.js";

const byId = (id) => document.getElementById(id);

const SHORTCUTS = [
  ["Enter", "send the message"],
  ["Shift Enter", "begin a new line"],
  ["Esc", "stop the answer"],
  ["/", "go to the message field"],
  ["↑", "edit the last question, in an empty field"],
  ["Ctrl Enter", "send an edited message or a tool's result"],
  ["n", "new chat"],
  ["s", "settings"],
  ["c  e", "chat, engine"],
  ["?", "this list"],
];

function showHelp() {
  showDialog(
    "Keyboard",
    el(
      "dl.shortcuts",
      {},
      ...SHORTCUTS.flatMap(([keys, does]) => [
        el("dt", {}, ...keys.split(/ +/).map((key) => el("kbd", {}, key))),
        el("dd", {}, does),
      ]),
    ),
  );
}

function isTyping(event) {
  return event.target.closest?.("input, textarea, select, [contenteditable], dialog") !== null;
}

function start() {
  startTheme(byId("toggle-theme"));
  setChildren(byId("show-help"), [icon("help")]);
  setChildren(byId("open-sidebar"), [icon("menu")]);
  const chat = new ChatView(byId("chat-view"));
  const engine = new EngineView(byId("engine-view"));
  const feed = new EngineFeed();

  const showView = () => {
    const isEngine = location.hash === "#engine";
    byId("chat-view").hidden = isEngine;
    byId("engine-view").hidden = !isEngine;
    byId("open-sidebar").hidden = isEngine;
    byId(isEngine ? "tab-engine" : "tab-chat").setAttribute("aria-current", "page");
    byId(isEngine ? "tab-chat" : "tab-engine").removeAttribute("aria-current");
    document.title = isEngine ? "Engine – Rapt" : "Rapt";
    engine.setVisible(isEngine);
  };
  addEventListener("hashchange", showView);
  byId("show-help").addEventListener("click", showHelp);
  byId("open-sidebar").addEventListener("click", () => chat.toggleSidebar());

  const keys = {
    "/": () => chat.composer.focus(),
    "?": showHelp,
    n: () => chat.startNew(),
    s: () => chat.toggleSettings(),
    c: () => (location.hash = "#chat"),
    e: () => (location.hash = "#engine"),
  };
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && chat.running) chat.stop();
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    if (event.key !== "?" && event.key !== "e") location.hash = "#chat";
    act();
  });

  feed.onChange(() => {
    showStatus(feed);
    engine.show(feed);
  });
  addEventListener("pagehide", () => chat.stop());
  showView();
  // The rest waits for the server, which may ask for a key.
  meetServer()
    .catch(() => {})
    .finally(() => {
      chat.start();
      feed.start();
    });
}

start();
