// Short messages at the edge of the page, which go by themselves.

import { el } from "./dom.js";

const SHOWN_MS = 6000;

export function notify(text, { isError = false } = {}) {
  const notice = el(isError ? "p.notice.is-error" : "p.notice", {}, text);
  document.getElementById("notices").append(notice);
  setTimeout(() => notice.remove(), SHOWN_MS);
}

export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notify(`Copied ${what}.`);
  } catch {
    // Without a secure origin there is no clipboard: let the user copy by hand.
    const { showDialog } = await import("./dialog.js");
    const area = el("textarea.code-area", { rows: 12, readonly: true, "aria-label": what });
    area.value = text;
    showDialog(`Copy ${what}`, el("div.dialog-body", {}, area));
    area.select();
  }
}
