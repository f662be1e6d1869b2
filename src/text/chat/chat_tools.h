#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

// Tools as an API client declares, chooses and answers them, before any chat format.

namespace rapt {

// A function that the model may call. `parameters` is a JSON schema.
struct ToolDeclaration {
  std::string name;
  std::optional<std::string> description = {};
  std::optional<json::value> parameters = {};
};

// One call in an assistant's message. `arguments` is what the model wrote: JSON, as a rule.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;
};

// What the client wants the model to do with the declared tools.
struct ToolChoice {
  enum class Kind {
    kAuto,      // whatever the model likes
    kNone,      // answer without tools: they are left out of the prompt
    kRequired,  // call one of them
    kNamed,     // call `name`
  };

  Kind kind = Kind::kAuto;
  std::string name = {};  // kNamed only
};

// A stretch of one call. `id` and `name` are set in the call's first delta and empty afterwards;
// the arguments of all deltas joined are the call's. Calls of an answer count from 0 upwards.
struct ToolCallDelta {
  int index = 0;
  std::string id = {};
  std::string name = {};
  std::string arguments = {};
};

// Adds what the deltas say to the whole calls of an answer.
void add_deltas(std::vector<ToolCall>& calls, std::span<const ToolCallDelta> deltas);

}  // namespace rapt
