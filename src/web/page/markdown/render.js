// Blocks to elements, by createElement and text nodes alone. So there is nothing to sanitise: what
// the model says can become only the elements named here, and links to http, https and mailto.

import { el } from "../base/dom.js";
import { copyText } from "../base/notices.js";
import { parseInline } from "./inline.js";

function renderInline(text) {
  return renderNodes(parseInline(text));
}

function renderNodes(nodes) {
  return nodes.filter((node) => node.text !== "").map(renderNode);
}

function renderNode(node) {
  switch (node.type) {
    case "text":
      return document.createTextNode(node.text);
    case "code":
      return el("code", {}, node.text);
    case "break":
      return el("br");
    case "maths":
      return el(node.isDisplay ? "span.maths.is-display" : "span.maths", {}, node.text);
    case "link":
      return el(
        "a",
        { href: node.address, title: node.address, target: "_blank", rel: "noopener noreferrer nofollow" },
        ...renderNodes(node.nodes),
      );
    default: {
      const tag = { emphasis: "em", strong: "strong", deleted: "del" }[node.type];
      return el(tag, {}, ...renderNodes(node.nodes));
    }
  }
}

// The heading levels of the page itself come before those of an answer.
const HEADING_OFFSET = 2;

function renderCode(block) {
  const code = el("code", {}, block.text);
  const copy = el(
    "button.code-copy",
    { type: "button", onclick: () => copyText(code.textContent, "the code") },
    "Copy",
  );
  // Focusable, because it may scroll.
  return el(
    "figure.code",
    {},
    el("figcaption", {}, el("span", {}, block.language || "text"), copy),
    el("pre", { tabindex: 0 }, code),
  );
}

function renderList(block) {
  const items = block.items.map((item) => {
    const isTight = !block.isLoose;
    const children = item.blocks.flatMap((inner) =>
      isTight && inner.type === "paragraph" ? renderInline(inner.text) : [renderBlock(inner)],
    );
    if (item.isDone === null) return el("li", {}, ...children);
    const box = el("span.task", { role: "img", "aria-label": item.isDone ? "done" : "open" });
    return el(item.isDone ? "li.has-task.is-done" : "li.has-task", {}, box, ...children);
  });
  if (!block.isOrdered) return el("ul", {}, ...items);
  return el("ol", block.start === 1 ? {} : { start: block.start }, ...items);
}

function renderTable(block) {
  const cell = (tag) => (text, at) => el(`${tag}.align-${block.align[at] ?? "left"}`, {}, ...renderInline(text));
  return el(
    "div.table-scroll",
    { tabindex: 0, role: "group", "aria-label": "Table" },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...block.head.map(cell("th")))),
      el("tbody", {}, ...block.rows.map((row) => el("tr", {}, ...row.map(cell("td"))))),
    ),
  );
}

export function renderBlock(block) {
  switch (block.type) {
    case "heading":
      return el(`h${Math.min(6, block.level + HEADING_OFFSET)}`, {}, ...renderInline(block.text));
    case "code":
      return renderCode(block);
    case "quote":
      return el("blockquote", {}, ...block.blocks.map(renderBlock));
    case "list":
      return renderList(block);
    case "table":
      return renderTable(block);
    case "rule":
      return el("hr");
    case "maths":
      return el("div.maths.is-display", { tabindex: 0 }, block.text);
    default:
      return el("p", {}, ...renderInline(block.text));
  }
}
