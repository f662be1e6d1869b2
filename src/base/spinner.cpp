#include <sys/resource.h>

#include <algorithm>

#include "base/spinner_internal.h"

namespace rapt {

void Spinner::skip_next() {
  num_skips_ = std::clamp(2 * num_skips_, 4, kMaxSkips);
  num_skips_left_ = num_skips_;
}

bool Spinner::was_put_aside() {
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) {
    return true;
  }
  const bool was_switched = usage.ru_nivcsw > num_switches_;
  num_switches_ = usage.ru_nivcsw;
  return was_switched;
}

}  // namespace rapt
