#pragma once

#include <string>

#include "engine/engine.h"

namespace rapt {

// The data of GET /v1/engine/events, JSON texts without a line break. docs/ENGINE_EVENTS.md says
// what the fields are.

// The first event of a stream: what does not change, and the last ten minutes.
std::string engine_hello_text(
    const Engine& engine, const std::string& model, const std::string& version
);

// An event after that, without its time: equal texts mean that nothing has happened.
std::string engine_state_text(const EngineStats& stats, const EngineSnapshot& snapshot);

// The same with its time.
std::string stamp_state_text(const std::string& text, std::int64_t now);

}  // namespace rapt
