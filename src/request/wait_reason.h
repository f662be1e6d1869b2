#pragma once

namespace rapt {

// Why a sequence is not in the step under way.
enum class WaitReason {
  kNone,       // it is, or nobody has looked yet
  kOthers,     // it stands behind others in the queue
  kSequences,  // as many run as may (--max-num-seqs)
  // The step's tokens are used up (--max-num-batched-tokens, or what --inter-token-target-ms
  // leaves).
  kTokens,
  kBlocks,  // no KV block could be given out safely
};

}  // namespace rapt
