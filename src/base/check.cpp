#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace rapt {

void check_failed(const char* file, int line, const char* condition, const std::string& details) {
  std::fprintf(
      stderr,
      "%s:%d: CHECK failed: %s%s%s\n",
      file,
      line,
      condition,
      details.empty() ? "" : "; ",
      details.c_str()
  );
  std::fflush(stderr);
  std::abort();
}

}  // namespace rapt
