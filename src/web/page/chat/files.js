// Conversations to a file and back.

import { notify } from "../base/notices.js";
import { checkConversation } from "./conversation.js";

const FORMAT = "rapt-conversations-1";

// Saves all conversations; without any, the one that is shown.
export function saveToFile(conversations, current) {
  const all = conversations.length > 0 ? conversations : [current];
  if (all.every((conversation) => conversation.leaf === null)) {
    notify("There is nothing to export yet.");
    return;
  }
  const text = JSON.stringify({ format: FORMAT, conversations: all }, null, 1);
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `rapt-${new Date().toISOString().slice(0, 10)}.json`;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// The conversations of a file, with new ids, so that nothing here is overwritten. Throws an Error
// with a sentence for the user.
export async function readConversations(file) {
  let value;
  try {
    value = JSON.parse(await file.text());
  } catch {
    throw new Error(`${file.name} is not valid JSON.`);
  }
  if (value?.format !== FORMAT || !Array.isArray(value.conversations) || value.conversations.length === 0) {
    throw new Error(`${file.name} was not exported by this page.`);
  }
  return value.conversations.map(checkConversation);
}
