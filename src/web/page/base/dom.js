// Making elements. Text always becomes text nodes: nothing on this page turns a string into markup.

const SVG = "http://www.w3.org/2000/svg";

function apply(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(element, children) {
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

// el("button.primary", {type: "button", onclick: send}, "Send"): tag and classes, attributes and
// listeners, children (null, undefined and false are left out).
export function el(spec, attributes = {}, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length > 0) element.className = classes.join(" ");
  apply(element, attributes);
  append(element, children);
  return element;
}

// The same for SVG.
export function svg(spec, attributes = {}, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElementNS(SVG, tag);
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  apply(element, attributes);
  append(element, children);
  return element;
}

// Gives `element` these children; those that stay are not touched, so focus and selection in them stay.
export function setChildren(element, children) {
  const wanted = children.filter(Boolean);
  const keep = new Set(wanted);
  for (const child of [...element.childNodes]) if (!keep.has(child)) child.remove();
  wanted.forEach((child, at) => {
    if (element.childNodes[at] !== child) element.insertBefore(child, element.childNodes[at] ?? null);
  });
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Line icons on a 20 by 20 grid.
const ICONS = {
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  plus: "M10 4v12M4 10h12",
  send: "M10 16V4.5M5 9l5-4.8L15 9",
  stop: "M6 6h8v8H6z",
  edit: "M12.7 4.3l3 3L7 16H4v-3z",
  copy: "M7.5 7.5h8v8h-8zM5 12.5h-.5v-8h8V5",
  again: "M15.5 8.5A6 6 0 1 0 16 11M16 4.5v4h-4",
  trash: "M4 6h12M8 6V4h4v2M6 6l.6 10h6.8L14 6M8.7 9v4.5M11.3 9v4.5",
  sliders: "M4 6h7M15 6h1M4 14h1M9 14h7M13 4.2v3.6M7 12.2v3.6",
  close: "M5 5l10 10M15 5L5 15",
  left: "M12 5l-5 5 5 5",
  right: "M8 5l5 5-5 5",
  down: "M5 8l5 5 5-5",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4",
  moon: "M16 11.6A6.5 6.5 0 0 1 8.4 4a6.5 6.5 0 1 0 7.6 7.6z",
  auto: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
  help: "M7.4 7.6a2.6 2.6 0 1 1 3.9 2.3c-.9.5-1.3 1-1.3 2M10 14.6v.1",
  tokens: "M3 6h4v4H3zM8.5 6h8.5v4H8.5zM3 12h7v3H3zM11.5 12H17v3h-5.5",
  export: "M10 12.5V4M6.5 7L10 3.7 13.5 7M4 12v4h12v-4",
  import: "M10 4v8.5M6.5 9.3L10 12.6l3.5-3.3M4 12v4h12v-4",
};

export function icon(name) {
  return svg(
    "svg.icon",
    { viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true", focusable: "false" },
    svg("path", { d: ICONS[name] }),
  );
}

// A button that shows an icon only; `label` is its name for those who do not see it.
export function iconButton(name, label, onclick, classes = "") {
  return el(
    `button.icon-button${classes}`,
    { type: "button", "aria-label": label, title: label, onclick },
    icon(name),
  );
}
