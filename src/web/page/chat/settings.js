// What the user has chosen for the next answers. An empty field means the server's own choice and is
// not sent.

const KEY = "rapt.settings";

const DEFAULTS = {
  model: "",
  system: "",
  effort: "medium",
  temperature: "",
  topP: "",
  topK: "",
  minP: "",
  maxTokens: "",
  seed: "",
  stop: "",
  frequencyPenalty: "",
  presencePenalty: "",
  recordTokens: false,
  toolsOn: false,
  tools: "",
  toolChoice: "auto",
  schemaOn: false,
  schema: "",
};

function load() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { ...DEFAULTS };
  }
}

export const settings = load();

const listeners = new Set();

export function change(name, value) {
  settings[name] = value;
  localStorage.setItem(KEY, JSON.stringify(settings));
  for (const listener of listeners) listener(name);
}

export function onChange(listener) {
  listeners.add(listener);
}

// The number fields: what they are called in a request, and their bounds.
export const NUMBERS = [
  { name: "temperature", field: "temperature", label: "Temperature", min: 0, max: 2, step: 0.05, usual: "the model's" },
  { name: "topP", field: "top_p", label: "Top p", min: 0.01, max: 1, step: 0.01, usual: "the model's" },
  { name: "topK", field: "top_k", label: "Top k", min: 0, max: 1000, step: 1, usual: "the model's" },
  { name: "minP", field: "min_p", label: "Min p", min: 0, max: 1, step: 0.01, usual: "the model's" },
  { name: "frequencyPenalty", field: "frequency_penalty", label: "Frequency penalty", min: -2, max: 2, step: 0.1, usual: "0" },
  { name: "presencePenalty", field: "presence_penalty", label: "Presence penalty", min: -2, max: 2, step: 0.1, usual: "0" },
  { name: "maxTokens", field: "max_completion_tokens", label: "Most tokens", min: 1, max: 1000000, step: 1, usual: "as fit" },
  { name: "seed", field: "seed", label: "Seed", min: 0, max: Number.MAX_SAFE_INTEGER, step: 1, usual: "random" },
];

// The tools of the editor, checked as far as the page can: [] when they are off. Throws an Error
// with a sentence for the user.
export function parseTools(text) {
  if (text.trim() === "") return [];
  let tools;
  try {
    tools = JSON.parse(text);
  } catch (error) {
    throw new Error(`The tools are not valid JSON: ${error.message}`);
  }
  if (!Array.isArray(tools)) throw new Error("The tools must be a list: [ … ].");
  return tools.map((tool, at) => {
    // The short form, without the wrapper, is what people paste.
    const wrapped = tool?.function ? tool : { type: "function", function: tool };
    if (typeof wrapped.function?.name !== "string") throw new Error(`Tool ${at + 1} has no name.`);
    return wrapped;
  });
}

export function parseSchema(text) {
  try {
    const schema = JSON.parse(text);
    if (schema === null || typeof schema !== "object") throw new Error("it must be an object");
    return schema;
  } catch (error) {
    throw new Error(`The JSON schema cannot be read: ${error.message}`);
  }
}
