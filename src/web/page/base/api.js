// Talking to the server that this page came from: addresses relative to it, the API key, errors.

import { askForKey } from "./key_dialog.js";

const KEY = "rapt.api-key";

// What went wrong, in a sentence for people. `isConnection`: the server was not reached at all.
export class ApiError extends Error {
  constructor(message, { status = 0, isConnection = false } = {}) {
    super(message);
    this.status = status;
    this.isConnection = isConnection;
  }
}

export const server = {
  needsKey: false,
  structuredOutput: false,
  reasoningEffort: false,
  attentionPlan: false,
};

function storedKey() {
  return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? "";
}

export function rememberKey(key, forLong) {
  sessionStorage.setItem(KEY, key);
  if (forLong) localStorage.setItem(KEY, key);
  else localStorage.removeItem(KEY);
}

// Asks the server what it wants and can, and the user for a key where one is needed.
export async function meetServer() {
  const response = await reach("assets/server.json", {});
  const facts = await response.json();
  server.needsKey = facts.needs_key;
  server.structuredOutput = facts.structured_output;
  server.reasoningEffort = facts.reasoning_effort;
  server.attentionPlan = facts.attention_plan;
  if (server.needsKey && storedKey() === "") await ask("");
}

let asking = null;

// One dialog, however many requests are waiting for it.
function ask(why) {
  asking ??= askForKey(why)
    .then(({ key, forLong }) => rememberKey(key, forLong))
    .finally(() => {
      asking = null;
    });
  return asking;
}

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server cannot be reached.", { isConnection: true });
  }
}

async function errorOf(response) {
  let message = `The server answered with status ${response.status}.`;
  try {
    message = (await response.json()).error?.message ?? message;
  } catch {
    // Not the server's own words: something between us and it.
  }
  return new ApiError(message, { status: response.status });
}

// A response with a good status, or an ApiError. A refused key is asked for again.
export async function request(path, { method = "GET", body, signal } = {}) {
  for (;;) {
    const headers = {};
    const key = storedKey();
    if (key !== "") headers.authorization = `Bearer ${key}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    const response = await reach(path, {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (response.ok) return response;
    if (response.status !== 401) throw await errorOf(response);
    await ask("The server refused this key.");
  }
}

export async function listModels() {
  const list = await (await request("v1/models")).json();
  return list.data.map((model) => ({ id: model.id, maxLength: model.max_model_len }));
}

// Where the API is, for commands that are copied out of here.
export function baseUrl() {
  return new URL("v1", document.baseURI.replace(/[#?].*$/, "")).href;
}
