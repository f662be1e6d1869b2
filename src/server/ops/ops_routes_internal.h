#pragma once

#include "server/api/api_context_internal.h"
#include "server/http/router_internal.h"

namespace rapt {

class EngineEvents;

// /health, /ping, /version, /metrics, /v1/engine/attention and /v1/engine/events. `context` and
// `events` must outlive the router; `is_draining` is asked for each request.
void add_ops_routes(
    Router& router,
    ApiContext& context,
    EngineEvents& events,
    const std::function<bool()>& is_draining
);

}  // namespace rapt
