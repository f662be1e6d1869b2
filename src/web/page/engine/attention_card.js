// Which attention kernels were chosen, and why, as far as the server tells.

import { request, server } from "../base/api.js";
import { el, setChildren } from "../base/dom.js";

// Any JSON as nested lists: the plan's own names are its best labels.
function outline(value) {
  if (Array.isArray(value)) {
    const isFlat = value.every((item) => item === null || typeof item !== "object");
    if (isFlat) return document.createTextNode(value.join(", ") || "none");
    return el("ol.outline", {}, ...value.map((item) => el("li", {}, outline(item))));
  }
  if (value !== null && typeof value === "object") {
    return el(
      "dl.outline",
      {},
      ...Object.entries(value).flatMap(([name, item]) => [
        el("dt", {}, name.replaceAll("_", " ")),
        el("dd", {}, outline(item)),
      ]),
    );
  }
  return document.createTextNode(value === null ? "none" : String(value));
}

export class AttentionCard {
  constructor() {
    this.body = el("div.attention-body");
    this.element = el(
      "section.card.attention",
      { "aria-label": "Attention" },
      el("div.card-head", {}, el("h2", {}, "Attention")),
      this.body,
    );
  }

  async show(hello) {
    const facts = el(
      "dl.parts",
      {},
      el("dt", {}, "Backend"),
      el("dd", {}, hello.attention),
      el("dt", {}, "CPU kernels"),
      el("dd", {}, hello.kernels),
      el("dt", {}, "Compute threads"),
      el("dd", {}, String(hello.threads)),
    );
    setChildren(this.body, [facts]);
    if (!server.attentionPlan) return;
    try {
      const plan = await (await request("v1/engine/attention")).json();
      setChildren(this.body, [
        facts,
        el("details.plan", {}, el("summary", {}, "The plan, and what was rejected"), outline(plan)),
      ]);
    } catch {
      // The facts above stay.
    }
  }
}
