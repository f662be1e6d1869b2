// Who runs and who waits, and why.

import { el, setChildren, setText } from "../base/dom.js";
import { count, rate } from "../base/format.js";
import { colorOf } from "./block_map.js";

const REASONS = {
  others: "behind others",
  sequences: "as many run as may",
  tokens: "the step's tokens are used up",
  blocks: "no KV block is free for it",
};

const RATE_SPAN = 3; // seconds

class Row {
  constructor(sequence) {
    this.history = []; // [time, tokens]
    this.phase = el("span.phase");
    this.reason = el("span.reason");
    this.bar = el("meter", { min: 0, max: 1, "aria-label": "Share of the prompt that is computed" });
    this.prompt = el("span");
    this.output = el("td.number");
    this.rate = el("td.number");
    this.blocks = el("td.number");
    this.element = el(
      "tr",
      {},
      el(
        "th",
        { scope: "row" },
        el(`span.owner.${colorOf(sequence.key)}`),
        el("code", { translate: "no" }, sequence.id || `request ${sequence.key}`),
        sequence.choice > 0 ? ` choice ${sequence.choice}` : null,
      ),
      el("td", {}, this.phase, this.reason),
      el("td.prompt-cell", {}, this.bar, this.prompt),
      this.output,
      this.rate,
      this.blocks,
    );
  }

  show(sequence, now) {
    const isPaused = sequence.phase !== "waiting" && sequence.wait === "blocks";
    setText(this.phase, isPaused ? "paused" : sequence.phase);
    this.phase.dataset.phase = isPaused ? "paused" : sequence.phase;
    setText(this.reason, REASONS[sequence.wait] ?? "");
    const computed = Math.min(sequence.computed_tokens, sequence.prompt_tokens);
    this.bar.value = sequence.prompt_tokens > 0 ? computed / sequence.prompt_tokens : 0;
    setText(this.prompt, `${count(computed)} / ${count(sequence.prompt_tokens)}`);
    setText(this.output, `${count(sequence.output_tokens)} / ${count(sequence.max_output_tokens)}`);
    setText(this.rate, this.rateOf(sequence.output_tokens, now));
    setText(this.blocks, count(sequence.blocks));
  }

  rateOf(tokens, now) {
    this.history.push([now, tokens]);
    while (this.history.length > 2 && this.history[0][0] < now - RATE_SPAN) this.history.shift();
    const [time, before] = this.history[0];
    return now > time && tokens > before ? rate((tokens - before) / (now - time)) : "–";
  }
}

export class RequestTable {
  constructor() {
    this.rows = new Map();
    this.body = el("tbody");
    this.empty = el("p.hint.empty", {}, "Nothing runs. Ask something in the chat, and look here.");
    this.more = el("p.hint", { hidden: true });
    const heads = ["Request", "Phase", "Prompt computed", "Tokens", "Tokens/s", "KV blocks"];
    this.table = el(
      "div.table-scroll",
      { tabindex: 0, role: "group", "aria-label": "Requests, scrollable" },
      el(
        "table.requests",
        {},
        el(
          "thead",
          {},
          el("tr", {}, ...heads.map((head, at) => el(at > 2 ? "th.number" : "th", { scope: "col" }, head))),
        ),
        this.body,
      ),
    );
    this.element = el(
      "section.card.request-card",
      { "aria-label": "Requests" },
      el("div.card-head", {}, el("h2", {}, "Requests")),
      this.empty,
      this.table,
      this.more,
    );
  }

  show(state, now) {
    const sequences = [...state.running, ...state.waiting];
    const kept = new Map();
    const elements = sequences.map((sequence) => {
      const key = `${sequence.key}.${sequence.choice}`;
      const row = this.rows.get(key) ?? new Row(sequence);
      row.show(sequence, now);
      kept.set(key, row);
      return row.element;
    });
    this.rows = kept;
    setChildren(this.body, elements);
    this.empty.hidden = sequences.length > 0;
    this.table.hidden = sequences.length === 0;
    const numMore = state.num_waiting - state.waiting.length;
    this.more.hidden = numMore <= 0;
    setText(this.more, `${count(numMore)} more arrive or wait.`);
  }
}
