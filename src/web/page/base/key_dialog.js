// Asks for the API key of a server that wants one.

import { showDialog } from "./dialog.js";
import { el } from "./dom.js";

// A promise of {key, forLong}. The dialog cannot be left without a key: nothing works without.
export function askForKey(why) {
  return new Promise((resolve) => {
    const key = el("input", {
      type: "password",
      id: "api-key",
      autocomplete: "off",
      required: true,
      autofocus: true,
    });
    const forLong = el("input", { type: "checkbox", id: "api-key-for-long" });
    const dialog = showDialog(
      "API key",
      el(
        "form.dialog-body",
        {
          onsubmit: (event) => {
            event.preventDefault();
            dialog.close();
            resolve({ key: key.value.trim(), forLong: forLong.checked });
          },
        },
        el("p", {}, why || "This server wants an API key. It is sent to this server only."),
        el("label.field", {}, el("span", {}, "Key"), key),
        el("label.check", {}, forLong, "Remember it in this browser"),
        el("div.dialog-actions", {}, el("button.primary", { type: "submit" }, "Use this key")),
      ),
      { mayClose: false },
    );
    key.focus();
  });
}
