// One answer on its way: sends a request and writes what comes back into a message.

import { ApiError, request } from "../base/api.js";
import { readEvents } from "../base/event_stream.js";
import { withStream } from "./request.js";

// Fills `message` until the answer has ended, calling `onChange` at every piece. What went wrong
// ends up in message.error; what came before it stays.
export async function runAnswer(body, message, { signal, recordTokens, onChange }) {
  const begin = performance.now();
  const stats = { firstToken: null, seconds: null, numTokens: 0, numPrompt: 0 };
  let firstTime = 0;
  let lastTime = 0;
  let firstCount = 0;
  message.stats = stats;
  message.finish = null;
  if (recordTokens) message.tokens = [];
  const takeUsage = (usage) => {
    stats.numTokens = usage.completion_tokens;
    stats.numPrompt = usage.prompt_tokens;
    stats.numReasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
    lastTime = performance.now();
    if (stats.firstToken === null && stats.numTokens > 0) {
      firstTime = lastTime;
      firstCount = stats.numTokens;
      stats.firstToken = (firstTime - begin) / 1000;
    }
    stats.seconds = (lastTime - begin) / 1000;
    // Without the first piece, whose tokens took the prompt's time.
    const between = (lastTime - firstTime) / 1000;
    stats.rate = between > 0 ? (stats.numTokens - firstCount) / between : null;
  };
  try {
    const response = await request("v1/chat/completions", {
      method: "POST",
      body: withStream(body, recordTokens),
      signal,
    });
    message.requestId = response.headers.get("x-request-id");
    let isDone = false;
    for await (const data of readEvents(response)) {
      if (data === "[DONE]") {
        isDone = true;
        break;
      }
      const chunk = JSON.parse(data);
      if (chunk.error) throw new ApiError(chunk.error.message);
      message.answerId = chunk.id;
      if (chunk.usage) takeUsage(chunk.usage);
      for (const choice of chunk.choices ?? []) takeChoice(message, choice);
      onChange();
    }
    if (!isDone) throw new ApiError("The connection was lost before the answer's end.");
  } catch (error) {
    if (error.name === "AbortError") message.finish = "stopped";
    else if (error instanceof ApiError) message.error = error.message;
    else if (error instanceof TypeError) message.error = "The connection was lost before the answer's end.";
    else throw error;
  }
  onChange();
}

function takeChoice(message, choice) {
  const delta = choice.delta ?? {};
  message.content += delta.content ?? "";
  message.reasoning += delta.reasoning ?? delta.reasoning_content ?? "";
  for (const piece of delta.tool_calls ?? []) takeCall(message, piece);
  if (choice.finish_reason) message.finish = choice.finish_reason;
  for (const entry of choice.logprobs?.content ?? []) {
    message.tokens?.push({
      id: entry.token_id ?? null,
      text: entry.token,
      bytes: entry.bytes,
      logprob: entry.logprob,
      // Only what the view shows: an answer may have many thousands.
      others: entry.top_logprobs.map((other) => [other.token, other.logprob, other.token_id ?? null]),
    });
  }
}

function takeCall(message, piece) {
  message.toolCalls ??= [];
  const call = (message.toolCalls[piece.index] ??= { id: "", name: "", arguments: "" });
  call.id ||= piece.id ?? "";
  call.name ||= piece.function?.name ?? "";
  call.arguments += piece.function?.arguments ?? "";
}
