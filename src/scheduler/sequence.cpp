#include "scheduler/sequence.h"

namespace rapt {

std::unique_ptr<Sequence> make_sequence(const Request& request, int choice) {
  auto sequence = std::make_unique<Sequence>();
  sequence->request = &request;
  sequence->choice = choice;
  if (request.stop.make_stop_matcher) {
    sequence->stop_matcher = request.stop.make_stop_matcher();
  }
  if (request.make_constraint) {
    sequence->constraint = request.make_constraint();
  }
  return sequence;
}

}  // namespace rapt
