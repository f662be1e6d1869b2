// Modal dialogs on top of <dialog>, which keeps focus inside and closes on Escape.

import { el, iconButton } from "./dom.js";

// Shows `content` under `title`. Closed by Escape or its button; `onclose` is called then.
export function showDialog(title, content, { onclose, mayClose = true } = {}) {
  const heading = el("h2", { id: "dialog-title" }, title);
  const dialog = el(
    "dialog.dialog",
    { "aria-labelledby": "dialog-title" },
    el(
      "div.dialog-head",
      {},
      heading,
      mayClose ? iconButton("close", "Close", () => dialog.close()) : null,
    ),
    content,
  );
  if (!mayClose) dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.addEventListener("close", () => {
    dialog.remove();
    onclose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// Asks a yes-or-no question; a promise of the answer.
export function confirmDialog(title, text, verb) {
  return new Promise((resolve) => {
    let answer = false;
    const dialog = showDialog(
      title,
      el(
        "form.dialog-body",
        {
          method: "dialog",
          onsubmit: () => {
            answer = true;
          },
        },
        el("p", {}, text),
        el(
          "div.dialog-actions",
          {},
          el("button.quiet", { type: "button", onclick: () => dialog.close() }, "Cancel"),
          el("button.primary", { type: "submit" }, verb),
        ),
      ),
      { onclose: () => resolve(answer) },
    );
  });
}
