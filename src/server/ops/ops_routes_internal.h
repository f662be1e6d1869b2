#pragma once

#include "server/api/api_context_internal.h"
#include "server/http/router_internal.h"

namespace rapt {

// /health, /ping, /version and /metrics. `context` must outlive the router; `is_draining` is asked
// for each request.
void add_ops_routes(Router& router, ApiContext& context, const std::function<bool()>& is_draining);

}  // namespace rapt
