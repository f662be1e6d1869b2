// Listens to GET /v1/engine/events and keeps what it says: `hello`, `state`, and ten minutes of
// seconds. Connects again when the connection is lost, and rests while nobody sees the page.

import { ApiError, request } from "../base/api.js";
import { readEvents } from "../base/event_stream.js";

const HISTORY_SECONDS = 600;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8000;
const HIDDEN_MS = 60000; // until the stream is closed behind a hidden page

export class EngineFeed {
  constructor() {
    this.connection = "connecting"; // or "open", "lost"
    this.hello = null;
    this.state = null;
    this.seconds = new Map(); // second -> {field: value}
    this.listeners = [];
    this.abort = null;
    this.turn = 0; // of run(), of which only the last one goes on
    this.clock = null; // when second 0 was, by performance.now()
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  tell() {
    for (const listener of this.listeners) listener();
  }

  start() {
    let hiding = null;
    document.addEventListener("visibilitychange", () => {
      clearTimeout(hiding);
      if (document.hidden) {
        hiding = setTimeout(() => this.rest(), HIDDEN_MS);
      } else {
        this.wake();
      }
    });
    // A page that the browser keeps for its back button would keep its connection too, and a browser
    // has only six of them for a server.
    addEventListener("pagehide", () => this.rest());
    addEventListener("pageshow", () => this.wake());
    this.run();
  }

  wake() {
    if (!this.isResting) return;
    this.isResting = false;
    this.run();
  }

  rest() {
    this.isResting = true;
    this.turn += 1;
    this.abort?.abort();
  }

  // The present second of the engine's life, whether or not it says something.
  now() {
    return this.clock === null ? 0 : (performance.now() - this.clock) / 1000;
  }

  async run() {
    let wait = FIRST_WAIT_MS;
    const turn = ++this.turn;
    while (turn === this.turn) {
      this.abort = new AbortController();
      try {
        const response = await request("v1/engine/events", { signal: this.abort.signal });
        for await (const data of readEvents(response)) {
          this.take(JSON.parse(data));
          wait = FIRST_WAIT_MS;
        }
      } catch (error) {
        const isExpected =
          error instanceof ApiError || error instanceof TypeError || error.name === "AbortError";
        if (!isExpected) throw error;
      }
      if (turn !== this.turn) return;
      this.connection = "lost";
      this.tell();
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(MAX_WAIT_MS, wait * 2);
    }
  }

  take(event) {
    if (event.type === "hello") {
      this.hello = event;
      this.seconds.clear();
    } else if (event.type === "state") {
      this.state = event;
    }
    this.connection = "open";
    this.clock = performance.now() - event.now * 1000;
    for (const row of event.seconds ?? []) this.takeSecond(row);
    for (const second of this.seconds.keys()) {
      if (second < event.now - HISTORY_SECONDS) this.seconds.delete(second);
    }
    this.tell();
  }

  takeSecond(row) {
    const entry = {};
    this.hello.second_fields.forEach((field, at) => {
      entry[field] = row[at];
    });
    this.seconds.set(entry.second, entry);
  }

  // Tokens a second over the last few whole seconds: {prompt, generated}.
  rates() {
    const span = 3;
    const now = Math.floor(this.now());
    let prompt = 0;
    let generated = 0;
    for (let second = now - span; second < now; second += 1) {
      prompt += this.seconds.get(second)?.prompt_tokens ?? 0;
      generated += this.seconds.get(second)?.generated_tokens ?? 0;
    }
    return { prompt: prompt / span, generated: generated / span };
  }
}
