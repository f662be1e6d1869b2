// A conversation is a tree of messages, because an edited question or a second answer stands beside
// the first one. What is shown and sent is the path from the top to `leaf`.
//
// A message: {id, parent, role, content} and, as the case may be, reasoning, toolCalls
// [{id, name, arguments}], toolCallId, name, finish, error, stats, tokens.

export function newId() {
  // Not randomUUID(), which wants a secure origin.
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function newConversation() {
  const now = Date.now();
  return { id: newId(), title: "", created: now, updated: now, messages: {}, leaf: null };
}

export function addMessage(conversation, parent, fields) {
  const message = { id: newId(), parent, created: Date.now(), ...fields };
  conversation.messages[message.id] = message;
  conversation.leaf = message.id;
  conversation.updated = message.created;
  if (conversation.title === "" && message.role === "user") conversation.title = titleOf(message.content);
  return message;
}

function titleOf(text) {
  const line = text.trim().split("\n")[0];
  return line.length > 60 ? `${line.slice(0, 57).trimEnd()}…` : line;
}

// The messages from the top down to `leaf`.
export function pathTo(conversation, leaf) {
  const path = [];
  const seen = new Set();
  for (let id = leaf; id && !seen.has(id); id = conversation.messages[id]?.parent) {
    if (!conversation.messages[id]) break;
    seen.add(id);
    path.unshift(conversation.messages[id]);
  }
  return path;
}

export function childrenOf(conversation, parent) {
  return Object.values(conversation.messages)
    .filter((message) => message.parent === parent)
    .sort((a, b) => a.created - b.created);
}

// The other versions of a message, itself included, oldest first.
export function siblingsOf(conversation, message) {
  return childrenOf(conversation, message.parent);
}

// The newest message below `id`.
export function newestLeaf(conversation, id) {
  for (;;) {
    const next = childrenOf(conversation, id).at(-1);
    if (!next) return id;
    id = next.id;
  }
}

// Calls of `message` that no tool message on the way to the leaf has answered.
export function openCalls(conversation, message) {
  const answered = new Set(
    pathTo(conversation, conversation.leaf)
      .filter((other) => other.role === "tool")
      .map((other) => other.toolCallId),
  );
  return (message.toolCalls ?? []).filter((call) => !answered.has(call.id));
}

// What came out of a file, or an Error that says what is wrong with it.
export function checkConversation(value) {
  const isMessage = (message) =>
    message !== null &&
    typeof message === "object" &&
    ["user", "assistant", "tool"].includes(message.role) &&
    typeof message.id === "string" &&
    typeof message.content === "string" &&
    (message.reasoning === undefined || typeof message.reasoning === "string") &&
    (message.toolCalls === undefined || Array.isArray(message.toolCalls));
  if (value === null || typeof value !== "object" || typeof value.messages !== "object") {
    throw new Error("This file holds no conversation of this page.");
  }
  const messages = Object.values(value.messages ?? {});
  if (!messages.every(isMessage)) throw new Error("A message in this file cannot be read.");
  const byId = Object.fromEntries(messages.map((message) => [message.id, message]));
  return {
    ...newConversation(),
    title: String(value.title ?? "Imported"),
    messages: byId,
    leaf: byId[value.leaf] ? value.leaf : (messages.at(-1)?.id ?? null),
  };
}
