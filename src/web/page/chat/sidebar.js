// The list of conversations.

import { el, icon, iconButton } from "../base/dom.js";

export class Sidebar {
  // Callbacks: onnew(), onopen(id), ondelete(id), onexport(), onimport(file).
  constructor(callbacks) {
    this.callbacks = callbacks;
    this.list = el("ul.conversations", { id: "conversations" });
    const file = el("input", {
      type: "file",
      id: "import-file",
      accept: "application/json,.json",
      class: "visually-hidden",
      tabindex: -1,
      "aria-label": "File to import",
      onchange: () => {
        if (file.files.length > 0) callbacks.onimport(file.files[0]);
        file.value = "";
      },
    });
    this.element = el(
      "aside.sidebar",
      { id: "sidebar", "aria-label": "Conversations" },
      el(
        "div.sidebar-head",
        {},
        el(
          "button.new-chat",
          { type: "button", id: "new-chat", onclick: callbacks.onnew },
          icon("plus"),
          "New chat",
        ),
        iconButton("close", "Close the conversations", callbacks.onclose, ".only-narrow"),
      ),
      this.list,
      el(
        "div.sidebar-foot",
        {},
        el("button.quiet", { type: "button", id: "export", onclick: callbacks.onexport }, icon("export"), "Export"),
        el("button.quiet", { type: "button", id: "import", onclick: () => file.click() }, icon("import"), "Import"),
        file,
      ),
    );
  }

  show(conversations, currentId) {
    this.list.replaceChildren(
      ...conversations.map((conversation) => {
        const isCurrent = conversation.id === currentId;
        const title = conversation.title || "New chat";
        return el(
          isCurrent ? "li.is-current" : "li",
          {},
          el(
            "button.conversation",
            {
              type: "button",
              "aria-current": isCurrent ? "true" : null,
              title,
              onclick: () => this.callbacks.onopen(conversation.id),
            },
            title,
          ),
          iconButton("trash", `Delete “${title}”`, () => this.callbacks.ondelete(conversation.id)),
        );
      }),
    );
  }
}
