// The batch of the step under way: how its tokens are divided.

import { el, setChildren, setText } from "../base/dom.js";
import { count, plural } from "../base/format.js";
import { stackedBar } from "./memory_plan.js";

export class StepCard {
  constructor() {
    this.number = el("p.map-figure");
    this.body = el("div");
    this.text = el("p.hint");
    this.element = el(
      "section.card.step",
      { "aria-label": "Step" },
      el("div.card-head", {}, el("h2", {}, "Step"), this.number),
      this.body,
      this.text,
    );
  }

  show(hello, state) {
    const { step } = state;
    const max = hello.max_step_tokens;
    const isBusy = state.running.length > 0;
    const isPaced = step.max_tokens < max;
    const prompt = isBusy ? step.prompt_tokens : 0;
    const decode = isBusy ? step.tokens - step.prompt_tokens : 0;
    setText(this.number, `number ${count(state.totals.steps)}`);
    setChildren(this.body, [
      stackedBar([
        ["prompt", "prompt tokens", prompt / max],
        ["decode", "decoded tokens", decode / max],
        ["rest", "unused", Math.max(0, max - prompt - decode) / max],
      ]),
    ]);
    setText(
      this.text,
      isBusy
        ? `${plural(step.sequences, "sequence")}: ${plural(prompt, "prompt token")} and ` +
            `${plural(decode, "decoded token")} of ${count(step.max_tokens)} that ` +
            (isPaced ? "it may have while answers are being written." : "a step may have.")
        : `A step may have ${plural(max, "token")} of ${plural(hello.max_sequences, "sequence")}.`,
    );
  }
}
