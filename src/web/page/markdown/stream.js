// Shows a text that grows. Blocks that are complete are rendered once and left alone; only the last
// one is parsed and rendered again, so that a long answer costs as much per token as a short one.

import { parseBlocks } from "./blocks.js";
import { renderBlock } from "./render.js";

// The share of time that rendering may take while an answer comes in.
const MAX_SHARE = 0.2;

export class MarkdownStream {
  constructor(container) {
    this.container = container;
    this.text = "";
    this.numDone = 0; // characters in finished blocks
    this.last = []; // elements of what may still change
    this.timer = null;
    this.nextTime = 0;
  }

  // Shows `text`, which begins as the last one did, soon.
  update(text) {
    this.text = text;
    if (this.timer !== null) return;
    const wait = Math.max(0, this.nextTime - performance.now());
    this.timer = setTimeout(() => {
      this.timer = null;
      this.render();
    }, wait);
  }

  // Shows `text`, all of it, now.
  finish(text) {
    clearTimeout(this.timer);
    this.timer = null;
    this.text = text;
    this.render();
  }

  render() {
    const begin = performance.now();
    const lines = this.text.slice(this.numDone).split("\n");
    const blocks = parseBlocks(lines);
    if (!this.extendCode(blocks)) {
      for (const element of this.last) element.remove();
      this.last = blocks.map(renderBlock);
      this.container.append(...this.last);
    }
    if (blocks.length > 1) {
      const keep = blocks.at(-1).line;
      for (let at = 0; at < keep; at += 1) this.numDone += lines[at].length + 1;
      this.last = this.last.slice(-1);
    }
    this.lastBlock = blocks.at(-1);
    const took = performance.now() - begin;
    this.nextTime = performance.now() + Math.max(16, took / MAX_SHARE);
  }

  // A code block that only got longer keeps its element, and with it the reader's selection.
  extendCode(blocks) {
    const [block] = blocks;
    const before = this.lastBlock;
    const isLonger =
      blocks.length === 1 &&
      before?.type === "code" &&
      block.type === "code" &&
      before.language === block.language &&
      this.last.length === 1 &&
      block.text.startsWith(before.text);
    if (!isLonger) return false;
    const code = this.last[0].querySelector("code");
    if (code.firstChild === null) code.append("");
    code.firstChild.appendData(block.text.slice(before.text.length));
    return true;
  }
}

export function renderMarkdown(container, text) {
  container.replaceChildren(...parseBlocks(text.split("\n")).map(renderBlock));
}
