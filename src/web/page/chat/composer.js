// Where questions are written. Enter sends, Shift and Enter begins a line.

import { el, icon } from "../base/dom.js";

const MAX_HEIGHT = 240;

export class Composer {
  // `onsend` gets the text; `onstop` ends the answer under way; `onrecall` is called for the arrow
  // up in an empty field.
  constructor({ onsend, onstop, onrecall }) {
    this.onsend = onsend;
    this.onstop = onstop;
    this.isBusy = false;
    this.area = el("textarea", {
      id: "composer",
      rows: 1,
      placeholder: "Ask something",
      "aria-label": "Your message",
      oninput: () => this.refresh(),
      onkeydown: (event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
          event.preventDefault();
          this.send();
        } else if (event.key === "ArrowUp" && this.area.value === "") {
          event.preventDefault();
          onrecall();
        }
      },
    });
    this.button = el("button.send", { type: "submit", id: "send" });
    this.element = el(
      "form.composer",
      {
        onsubmit: (event) => {
          event.preventDefault();
          if (this.isBusy) this.onstop();
          else this.send();
        },
      },
      this.area,
      this.button,
    );
    this.refresh();
  }

  send() {
    const text = this.area.value;
    if (this.isBusy || text.trim() === "") return;
    this.area.value = "";
    this.refresh();
    this.onsend(text);
  }

  setBusy(isBusy) {
    this.isBusy = isBusy;
    this.refresh();
  }

  refresh() {
    this.area.style.height = "auto";
    this.area.style.height = `${Math.min(MAX_HEIGHT, this.area.scrollHeight)}px`;
    const label = this.isBusy ? "Stop" : "Send";
    if (this.button.getAttribute("aria-label") !== label) {
      this.button.setAttribute("aria-label", label);
      this.button.title = this.isBusy ? "Stop (Esc)" : "Send (Enter)";
      this.button.replaceChildren(icon(this.isBusy ? "stop" : "send"));
    }
    this.button.disabled = !this.isBusy && this.area.value.trim() === "";
  }

  focus() {
    this.area.focus();
  }
}
