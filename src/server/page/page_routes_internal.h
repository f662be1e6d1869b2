#pragma once

#include "server/api/api_context_internal.h"
#include "server/http/router_internal.h"

namespace rapt {

// GET / and /assets/...: the page and its files (src/web/page), which need no key: they hold
// nothing of this server's. /assets/server.json tells the page whether to ask for one, and what
// this server can do. `context` must outlive the router.
void add_page_routes(Router& router, const ApiContext& context);

}  // namespace rapt
