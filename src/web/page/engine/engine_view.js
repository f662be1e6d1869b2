// The inside of the engine, as the feed tells it.

import { el, setChildren } from "../base/dom.js";
import { count, duration, percent, rate } from "../base/format.js";
import { AttentionCard } from "./attention_card.js";
import { BlockMap } from "./block_map.js";
import { Chart, setFigure } from "./chart.js";
import { memoryPlan } from "./memory_plan.js";
import { RequestTable } from "./request_table.js";
import { StepCard } from "./step_card.js";

const REFRESH_MS = 1000; // charts move also when nothing is said

function mean(sum, number) {
  return number > 0 ? sum / number : null;
}

export class EngineView {
  constructor(root) {
    this.figures = Array.from({ length: 5 }, () => el("li"));
    this.charts = [
      new Chart(
        "Generated tokens/s",
        [{ label: "now", value: (second) => second.generated_tokens, color: 0 }],
        { format: rate, isSum: true },
      ),
      new Chart(
        "Prompt tokens/s",
        [{ label: "now", value: (second) => second.prompt_tokens, color: 1 }],
        { format: rate, isSum: true },
      ),
      new Chart(
        "Latency",
        [
          { label: "between tokens", value: (second) => mean(second.gap_seconds, second.gaps), color: 0 },
          {
            label: "to the first",
            value: (second) => mean(second.first_token_seconds, second.first_tokens),
            color: 1,
            isDots: true,
          },
        ],
        { format: duration, isSum: false },
      ),
    ];
    this.requests = new RequestTable();
    this.step = new StepCard();
    this.blocks = new BlockMap();
    this.attention = new AttentionCard();
    this.memory = el("div.memory-place");
    this.waiting = el("p.hint", {}, "Waiting for the engine.");
    this.grid = el(
      "div.engine-grid",
      { hidden: true },
      el("div.charts", {}, ...this.charts.map((chart) => chart.element)),
      this.requests.element,
      this.blocks.element,
      el("div.side", {}, this.step.element, this.memory, this.attention.element),
    );
    root.append(
      el("h1.visually-hidden", {}, "Engine"),
      el("ul.figures-row", { "aria-label": "Now" }, ...this.figures),
      this.waiting,
      this.grid,
    );
  }

  // Nothing is drawn while nobody looks.
  setVisible(isVisible) {
    this.isVisible = isVisible;
    clearInterval(this.timer);
    if (!isVisible) return;
    this.timer = setInterval(() => this.drawCharts(), REFRESH_MS);
    if (this.feed) this.show(this.feed);
  }

  show(feed) {
    this.feed = feed;
    if (!this.isVisible || !feed.hello || !feed.state) return;
    const { hello, state } = feed;
    this.waiting.hidden = true;
    this.grid.hidden = false;
    this.grid.classList.toggle("is-stale", feed.connection === "lost");
    if (this.hello !== hello) {
      this.hello = hello;
      setChildren(this.memory, [memoryPlan(hello)]);
      this.attention.show(hello);
    }
    this.requests.show(state, performance.now() / 1000);
    this.step.show(hello, state);
    this.blocks.show(hello, state);
    this.drawCharts();
  }

  drawCharts() {
    const { feed } = this;
    if (!feed?.state || document.hidden || feed.connection === "lost") return;
    for (const chart of this.charts) chart.show(feed.seconds, feed.now());
    this.showFigures();
  }

  showFigures() {
    const { hello, state } = this.feed;
    const rates = this.feed.rates();
    const used = state.kv.map((group, at) => group.used / Math.max(1, hello.kv.groups[at].blocks));
    const finished = state.totals.finished_stop + state.totals.finished_length;
    const [running, waiting, generated, prompt, kv] = this.figures;
    setFigure(running, count(state.num_running), `running of ${count(hello.max_sequences)}`);
    setFigure(waiting, count(state.num_waiting), "waiting");
    setFigure(generated, rate(rates.generated), `tokens/s, ${count(state.totals.generated_tokens)} in all`);
    setFigure(prompt, rate(rates.prompt), `prompt tokens/s, ${count(state.totals.prompt_tokens)} in all`);
    setFigure(kv, percent(Math.max(0, ...used)), `of the KV cache, ${count(finished)} done`);
  }
}
