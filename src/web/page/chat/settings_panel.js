// The drawer beside the chat: how the next answers are made.

import { listModels, server } from "../base/api.js";
import { el, iconButton } from "../base/dom.js";
import { change, NUMBERS, parseSchema, parseTools, settings } from "./settings.js";

const EXAMPLE_TOOLS = JSON.stringify(
  [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "Tells the weather of a place now.",
        parameters: {
          type: "object",
          properties: { city: { type: "string", description: "For example Oslo" } },
          required: ["city"],
        },
      },
    },
  ],
  null,
  2,
);

function group(title, ...children) {
  return el("fieldset.group", {}, el("legend", {}, title), ...children);
}

function field(label, control, hint) {
  return el("label.field", {}, el("span", {}, label), control, hint ? el("small", {}, hint) : null);
}

function check(name, label, extra = {}) {
  const box = el("input", {
    type: "checkbox",
    id: `setting-${name}`,
    onchange: () => change(name, box.checked),
    ...extra,
  });
  box.checked = settings[name];
  return el("label.check", {}, box, label);
}

function numberField({ name, label, min, max, step, usual }) {
  const input = el("input", {
    type: "number",
    id: `setting-${name}`,
    inputmode: "decimal",
    min,
    max,
    step,
    placeholder: usual,
    oninput: () => change(name, input.value),
  });
  input.value = settings[name];
  return field(label, input);
}

function textField(name, label, { rows, placeholder, hint, classes = "" }) {
  const area = el(`textarea${classes}`, {
    id: `setting-${name}`,
    rows,
    placeholder,
    spellcheck: name === "system",
    oninput: () => change(name, area.value),
  });
  area.value = settings[name];
  return field(label, area, hint);
}

// A text area whose content is read by `parse`, whose complaint is shown below it.
function checkedField(name, label, parse, options) {
  const complaint = el("p.complaint", { role: "alert", hidden: true });
  const holder = textField(name, label, options);
  const area = holder.querySelector("textarea");
  const verify = () => {
    complaint.hidden = true;
    area.removeAttribute("aria-invalid");
    if (area.value.trim() === "") return;
    try {
      parse(area.value);
    } catch (error) {
      complaint.textContent = error.message;
      complaint.hidden = false;
      area.setAttribute("aria-invalid", "true");
    }
  };
  area.addEventListener("input", verify);
  verify();
  return el("div", {}, holder, complaint);
}

function choice(name, label, options) {
  const select = el(
    "select",
    { id: `setting-${name}`, onchange: () => change(name, select.value) },
    ...options.map((option) => el("option", { value: option }, option)),
  );
  select.value = settings[name];
  return field(label, select);
}

function effortGroup() {
  const radios = ["low", "medium", "high"].map((effort) => {
    const radio = el("input", {
      type: "radio",
      name: "effort",
      value: effort,
      onchange: () => change("effort", effort),
    });
    radio.checked = settings.effort === effort;
    return el("label.segment", {}, radio, el("span", {}, effort));
  });
  return el(
    "fieldset.group",
    { id: "setting-effort-group", hidden: true },
    el("legend", {}, "Reasoning effort"),
    el("div.segments", {}, ...radios),
  );
}

function modelField() {
  const select = el("select", {
    id: "setting-model",
    onchange: () => change("model", select.value),
  });
  return field("Model", select);
}

// Fills in what can be known only once the server has been met.
export function meetSettings(panel) {
  const select = panel.querySelector("#setting-model");
  listModels().then(
    (models) => {
      select.replaceChildren(...models.map((model) => el("option", { value: model.id }, model.id)));
      if (models.some((model) => model.id === settings.model)) select.value = settings.model;
    },
    () => {}, // the page says elsewhere that the server is not there
  );
  panel.querySelector("#setting-effort-group").hidden = !server.reasoningEffort;
  panel.querySelector("#setting-schema-group").replaceWith(schemaGroup());
}

function toolsGroup() {
  const editor = checkedField("tools", "Definitions (JSON)", parseTools, {
    rows: 8,
    classes: ".code-area",
    placeholder: "[ { \"name\": … } ]",
    hint: "You answer the calls yourself, in the chat.",
  });
  const area = editor.querySelector("textarea");
  const example = el(
    "button.quiet",
    {
      type: "button",
      onclick: () => {
        area.value = EXAMPLE_TOOLS;
        area.dispatchEvent(new Event("input", { bubbles: true }));
      },
    },
    "Put in an example",
  );
  return group(
    "Tools",
    check("toolsOn", "Offer these tools to the model"),
    editor,
    el("div.form-actions", {}, example),
    choice("toolChoice", "Tool choice", ["auto", "required", "none"]),
  );
}

function schemaGroup() {
  const can = server.structuredOutput;
  const box = group(
    "Structured output",
    check("schemaOn", "Answer in the shape of a JSON schema", can ? {} : { disabled: true }),
    checkedField("schema", "JSON schema", parseSchema, { rows: 5, classes: ".code-area" }),
    can ? null : el("p.hint", {}, "This server does not support it yet."),
  );
  box.id = "setting-schema-group";
  box.classList.toggle("is-off", !can);
  if (!can) box.querySelector("textarea").disabled = true;
  return box;
}

export function settingsPanel(onclose) {
  return el(
    "aside.settings",
    { id: "settings", "aria-label": "Settings" },
    el(
      "div.panel-head",
      {},
      el("h2", {}, "Settings"),
      iconButton("close", "Close the settings", onclose),
    ),
    el(
      "div.panel-body",
      {},
      modelField(),
      textField("system", "System prompt", { rows: 3, placeholder: "None" }),
      effortGroup(),
      group("Sampling", el("div.number-grid", {}, ...NUMBERS.map(numberField))),
      textField("stop", "Stop strings", { rows: 2, hint: "One a line." }),
      check("recordTokens", "Record token probabilities"),
      toolsGroup(),
      schemaGroup(),
    ),
  );
}
