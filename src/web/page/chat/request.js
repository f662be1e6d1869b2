// From a conversation and the settings to the body of a chat request, and to the same request as a
// command to copy.

import { baseUrl, server } from "../base/api.js";
import { NUMBERS, parseSchema, parseTools } from "./settings.js";

const NUM_ALTERNATIVES = 5;

function messageBody(message) {
  if (message.role === "tool") {
    return { role: "tool", tool_call_id: message.toolCallId, content: message.content };
  }
  if (message.role === "user") return { role: "user", content: message.content };
  const body = { role: "assistant", content: message.content };
  // The model wants to see what it thought before it called a tool.
  if (message.reasoning) body.reasoning = message.reasoning;
  if (message.toolCalls?.length > 0) {
    body.tool_calls = message.toolCalls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: call.arguments },
    }));
  }
  return body;
}

// Throws an Error with a sentence for the user where the settings cannot be sent.
export function buildRequest(path, settings, model) {
  const messages = path.map(messageBody);
  if (settings.system.trim() !== "") messages.unshift({ role: "system", content: settings.system });
  const body = { model, messages };
  for (const { name, field, label } of NUMBERS) {
    if (String(settings[name]).trim() === "") continue;
    const number = Number(settings[name]);
    if (!Number.isFinite(number)) throw new Error(`${label} is no number.`);
    body[field] = number;
  }
  const stop = settings.stop.split("\n").filter((line) => line !== "");
  if (stop.length > 0) body.stop = stop;
  if (server.reasoningEffort) body.reasoning_effort = settings.effort;
  const tools = settings.toolsOn ? parseTools(settings.tools) : [];
  if (tools.length > 0) {
    body.tools = tools;
    body.tool_choice = settings.toolChoice;
  }
  if (settings.schemaOn && server.structuredOutput) {
    body.response_format = {
      type: "json_schema",
      json_schema: { name: "answer", schema: parseSchema(settings.schema) },
    };
  }
  return body;
}

// What the page adds to see more of the answer.
export function withStream(body, recordTokens) {
  return {
    ...body,
    stream: true,
    stream_options: { include_usage: true, continuous_usage_stats: true },
    ...(recordTokens
      ? { logprobs: true, top_logprobs: NUM_ALTERNATIVES, return_token_ids: true }
      : {}),
  };
}

export function asCurl(body) {
  const quoted = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  const key = server.needsKey ? " -H \"Authorization: Bearer $RAPT_API_KEY\"" : "";
  return `curl ${baseUrl()}/chat/completions -H 'Content-Type: application/json'${key} -d '${quoted}'\n`;
}

// JSON as a Python expression.
function pythonValue(value, indent = "") {
  const inner = `${indent}    `;
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return pythonString(value);
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[\n${value.map((item) => `${inner}${pythonValue(item, inner)},\n`).join("")}${indent}]`;
  }
  const members = Object.entries(value).map(
    ([key, item]) => `${inner}${pythonString(key)}: ${pythonValue(item, inner)},\n`,
  );
  return members.length === 0 ? "{}" : `{\n${members.join("")}${indent}}`;
}

// JSON's escapes are Python's, but for characters beyond U+FFFF, which stay as they are here.
function pythonString(text) {
  return JSON.stringify(text);
}

// Not part of OpenAI's own client, so they go in extra_body.
const EXTRA_FIELDS = ["top_k", "min_p"];

export function asPython(body) {
  const key = server.needsKey ? 'os.environ["RAPT_API_KEY"]' : '"none"';
  const extra = Object.fromEntries(Object.entries(body).filter(([name]) => EXTRA_FIELDS.includes(name)));
  const lines = Object.entries(body)
    .filter(([name]) => !EXTRA_FIELDS.includes(name))
    .map(([name, value]) => `    ${name}=${pythonValue(value, "    ")},\n`);
  if (Object.keys(extra).length > 0) lines.push(`    extra_body=${pythonValue(extra, "    ")},\n`);
  return (
    `${server.needsKey ? "import os\n\n" : ""}from openai import OpenAI\n\n` +
    `client = OpenAI(base_url="${baseUrl()}", api_key=${key})\n` +
    `answer = client.chat.completions.create(\n${lines.join("")})\n` +
    "print(answer.choices[0].message.content)\n"
  );
}
