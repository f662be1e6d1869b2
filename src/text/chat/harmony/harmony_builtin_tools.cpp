#include "text/chat/harmony/harmony_content_internal.h"

namespace rapt {

namespace {

// The texts and schemas below are OpenAI's, word for word (openai/harmony, Apache-2.0): the model
// was trained on them.

json::value number_field(int standard) {
  return {{"type", "number"}, {"default", standard}};
}

json::value text_field() {
  return {{"type", "string"}};
}

HarmonyFunction make_function(
    std::string name, std::string description, json::object properties, json::array required
) {
  json::object schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) {
    schema["required"] = std::move(required);
  }
  return {std::move(name), std::move(description), json::value(std::move(schema))};
}

}  // namespace

HarmonyNamespace harmony_browser_tool() {
  HarmonyNamespace browser;
  browser.name = "browser";
  browser.description =
      "Tool for browsing.\n"
      "The `cursor` appears in brackets before each browsing display: `[{cursor}]`.\n"
      "Cite information from the tool using the following format:\n"
      "`【{cursor}†L{line_start}(-L{line_end})?】`, for example: `【6†L9-L11】` or `【8†L3】`.\n"
      "Do not quote more than 10 words directly from the tool output.\n"
      "sources=web (default: web)";
  browser.functions.push_back(make_function(
      "search",
      "Searches for information related to `query` and displays `topn` results.",
      {{"query", text_field()}, {"topn", number_field(10)}, {"source", text_field()}},
      {"query"}
  ));
  browser.functions.push_back(make_function(
      "open",
      "Opens the link `id` from the page indicated by `cursor` starting at line number `loc`, "
      "showing `num_lines` lines.\n"
      "Valid link ids are displayed with the formatting: `【{id}†.*】`.\n"
      "If `cursor` is not provided, the most recent page is implied.\n"
      "If `id` is a string, it is treated as a fully qualified URL associated with `source`.\n"
      "If `loc` is not provided, the viewport will be positioned at the beginning of the document "
      "or centered on the most relevant passage, if available.\n"
      "Use this function without `id` to scroll to a new location of an opened page.",
      {{"id", {{"type", json::array{"number", "string"}}, {"default", -1}}},
       {"cursor", number_field(-1)},
       {"loc", number_field(-1)},
       {"num_lines", number_field(-1)},
       {"view_source", {{"type", "boolean"}, {"default", false}}},
       {"source", text_field()}},
      {}
  ));
  browser.functions.push_back(make_function(
      "find",
      "Finds exact matches of `pattern` in the current page, or the page given by `cursor`.",
      {{"pattern", text_field()}, {"cursor", number_field(-1)}},
      {"pattern"}
  ));
  return browser;
}

HarmonyNamespace harmony_python_tool() {
  HarmonyNamespace python;
  python.name = "python";
  python.description =
      "Use this tool to execute Python code in your chain "
      "of thought. The code will not be shown to the user. This tool should be used for internal "
      "reasoning, but not for code that is intended to be visible to the user (e.g. when creating "
      "plots, tables, or files).\n"
      "\n"
      "When you send a message containing Python code to python, it will be executed in a "
      "stateful Jupyter notebook environment. python will respond with the output of the "
      "execution or time out after 120.0 seconds. The drive at '/"
      "mnt/data' can be used to save and persist user files. Internet access for this session is "
      "UNKNOWN. Depends on the cluster.";
  return python;
}

}  // namespace rapt
