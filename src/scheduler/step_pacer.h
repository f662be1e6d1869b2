#pragma once

namespace rapt {

struct PaceConfig {
  double target_seconds = 0.0;  // how long a step with decodes in it should take; 0: any time
  int min_prompt_tokens = 32;   // may always ride along, so that prompts come to their end
};

// Says how many prompt tokens may share a step with sequences that decode, so that the step takes
// about the target: everybody who decodes gets a token a step, and waits as long as it takes.
//
// It learns one number, how many tokens fit into the target, from steps of any shape, and assumes
// only that larger steps cost less a token (they share the reading of the weights). A step of n
// tokens that took t then tells that n * target / t tokens fit at least, if it was shorter than the
// target, or at most, if it was longer. Repeated, this comes to the right number from either side
// without passing it; a step that tells nothing new changes nothing, however odd its shape.
//
// Has no clock: it is told. Owned by the scheduler. Any number it gives is right, since the bits of
// an answer do not depend on how prompts are cut.
class StepPacer {
 public:
  // `max_tokens` is the most of any step. Begins with the least, since people see it when a step
  // takes too long, and it is soon more where there is time for more.
  StepPacer(const PaceConfig& config, int max_tokens);

  // The most prompt tokens beside `num_decodes` tokens of others; at least 1. What a step may have
  // in all is the caller's to see to.
  int max_prompt_tokens(int num_decodes) const;

  // True if a step may have less than half of its tokens once somebody decodes. What then remains
  // to be read takes much longer than it would now.
  bool slows_prompts() const;

  // A step of `num_tokens` in all took `seconds`. Times that are not above 0 tell nothing.
  void note_step(int num_tokens, double seconds);

 private:
  double target_seconds_;
  int min_prompt_tokens_;
  int max_tokens_;
  double fitting_tokens_;
};

}  // namespace rapt
