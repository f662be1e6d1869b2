// Where memory goes, all of it settled at start.

import { el } from "../base/dom.js";
import { bytes, percent } from "../base/format.js";

export function memoryPlan(hello) {
  const { memory } = hello;
  const used = memory.weight_bytes + memory.kv_cache_bytes + memory.workspace_bytes;
  const parts = [
    ["weights", "Weights, mapped from the files", memory.weight_bytes],
    ["kv", `KV cache, ${hello.kv.dtype}`, memory.kv_cache_bytes],
    ["workspace", "Workspace of a step", memory.workspace_bytes],
    ["rest", "Not planned for", Math.max(0, memory.memory_bytes - used)],
  ];
  const whole = Math.max(used, memory.memory_bytes);
  return el(
    "section.card.memory",
    { "aria-label": "Memory plan" },
    el(
      "div.card-head",
      {},
      el("h2", {}, "Memory"),
      el("p.map-figure", {}, `${bytes(memory.memory_bytes)} for this process`),
    ),
    stackedBar(parts.map(([name, label, size]) => [name, label, size / whole])),
    el(
      "dl.parts",
      {},
      ...parts.flatMap(([name, label, size]) => [
        el("dt", {}, el(`span.swatch.part-${name}`), label),
        el("dd", {}, `${bytes(size)} `, el("small", {}, percent(size / whole))),
      ]),
    ),
  );
}

// A bar of [name, label, share]; what is there at all stays visible.
export function stackedBar(parts) {
  const said = parts.map(([, label, share]) => `${label} ${percent(share)}`).join(", ");
  const bar = el("div.stacked", { role: "img", "aria-label": said });
  for (const [name, , share] of parts) {
    const piece = el(`span.part-${name}`);
    piece.style.flexGrow = String(share);
    if (share > 0) bar.append(piece);
  }
  return bar;
}
