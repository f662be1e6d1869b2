#pragma once

#include <string>

#include "app/flag_table_internal.h"

namespace rapt {

// What `rapt --help` prints.
std::string general_help();
// What `rapt COMMAND --help` prints.
std::string command_help(const CommandSpec& command);

}  // namespace rapt
