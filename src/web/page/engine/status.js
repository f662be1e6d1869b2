// The line at the top of the page: which model, and how the server is.

import { setText } from "../base/dom.js";
import { rate } from "../base/format.js";

function statusOf(feed) {
  if (feed.connection === "lost") return ["lost", "Connection lost, trying again"];
  if (feed.connection !== "open" || !feed.state) return ["wait", "Connecting"];
  const { state } = feed;
  if (!state.healthy) return ["bad", "Engine failed"];
  if (state.stalled_seconds > 0) return ["busy", `Step has run for ${state.stalled_seconds} s`];
  const queue = state.num_waiting > 0 ? `, ${state.num_waiting} waiting` : "";
  if (state.num_running + state.num_waiting === 0) return ["idle", "Idle"];
  const { generated } = feed.rates();
  const speed = generated > 0 ? ` · ${rate(generated)} tokens/s` : "";
  return ["busy", `${state.num_running} running${queue}${speed}`];
}

export function showStatus(feed) {
  const [kind, text] = statusOf(feed);
  const status = document.getElementById("status");
  status.dataset.kind = kind;
  setText(status, text);
  setText(document.getElementById("model-name"), feed.hello?.model ?? "");
}
