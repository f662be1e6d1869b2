// The KV blocks of each layer group, a small square each (or for a few neighbours, in a large cache),
// in the colour of the request that holds it.

import { el, setText, svg } from "../base/dom.js";
import { count, percent, plural } from "../base/format.js";

const NUM_COLORS = 8;
const SIZE = 10;
const GAP = 2;

// The colour of the request with this key: the same in the table and in every map.
export function colorOf(key) {
  return `owner-${key % NUM_COLORS}`;
}

class GroupMap {
  constructor(facts, blockSize) {
    this.facts = facts;
    this.cells = [];
    this.figure = el("p.map-figure");
    this.picture = svg("svg.map", { role: "img" });
    const kind = facts.window > 0 ? `Sliding layers, window ${count(facts.window)}` : "Full layers";
    this.kind = kind;
    this.about = `${plural(facts.layers, "layer")}, ${plural(facts.blocks, "block")} of ${blockSize} positions`;
    this.element = el(
      "div.map-group",
      {},
      el("div.map-head", {}, el("h3", {}, kind), this.figure),
      el("p.hint", {}, this.about),
      this.picture,
    );
  }

  layOut(numCells) {
    const columns = Math.max(40, Math.ceil(Math.sqrt(numCells * 3.2)));
    const rows = Math.ceil(numCells / columns);
    const step = SIZE + GAP;
    this.picture.setAttribute("viewBox", `0 0 ${columns * step - GAP} ${rows * step - GAP}`);
    this.cells = Array.from({ length: numCells }, (_, at) =>
      svg("rect.cell", {
        x: (at % columns) * step,
        y: Math.floor(at / columns) * step,
        width: SIZE,
        height: SIZE,
        rx: 1.5,
      }),
    );
    this.shown = this.cells.map(() => "");
    this.picture.replaceChildren(...this.cells);
  }

  // `running`: the sequences, which the owners count from 1.
  show(group, running) {
    const perCell = group.blocks_per_cell;
    const numCells = Math.ceil(this.facts.blocks / perCell);
    if (this.cells.length !== numCells) this.layOut(numCells);
    let at = 0;
    for (let run = 0; run < group.cells.length; run += 3) {
      const [owner, used, length] = group.cells.slice(run, run + 3);
      const key = running[owner - 1]?.key;
      const isFull = used >= perCell;
      const name = owner === 0 ? "" : `${key === undefined ? "owner-0" : colorOf(key)}${isFull ? "" : " is-part"}`;
      for (const end = Math.min(at + length, numCells); at < end; at += 1) {
        if (this.shown[at] === name) continue;
        this.shown[at] = name;
        this.cells[at].setAttribute("class", name === "" ? "cell" : `cell ${name}`);
      }
    }
    const share = this.facts.blocks > 0 ? group.used / this.facts.blocks : 0;
    setText(this.figure, `${count(group.used)} of ${count(this.facts.blocks)} in use, ${percent(share)}`);
    this.picture.setAttribute("aria-label", `${this.kind}: ${this.figure.textContent}`);
  }
}

export class BlockMap {
  constructor() {
    this.groups = [];
    this.body = el("div.map-groups");
    this.element = el(
      "section.card.block-map",
      { "aria-label": "KV cache" },
      el("div.card-head", {}, el("h2", {}, "KV cache")),
      this.body,
    );
  }

  show(hello, state) {
    if (this.hello !== hello) {
      this.hello = hello;
      this.groups = hello.kv.groups.map((facts) => new GroupMap(facts, hello.kv.block_size));
      this.body.replaceChildren(...this.groups.map((group) => group.element));
    }
    state.kv.forEach((group, at) => this.groups[at]?.show(group, state.running));
  }
}
