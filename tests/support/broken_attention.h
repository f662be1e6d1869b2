#pragma once

#include "attention/backend_info.h"

namespace rapt::testing {

// A backend that looks right and is wrong: its decode kernel forgets the sinks. Listed nowhere, so
// only a test can choose it; its registered cost makes it the first choice.
const BackendInfo& broken_attention_info();

}  // namespace rapt::testing
