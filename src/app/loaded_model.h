#pragma once

#include <memory>
#include <string>

#include "app/flags.h"
#include "attention/select/plan.h"
#include "base/result.h"
#include "checkpoint/sampling_defaults.h"
#include "engine/engine.h"
#include "models/model.h"
#include "request/request.h"
#include "text/chat/chat_format.h"
#include "text/tokenizer.h"

namespace rapt {

// A model with all that a command needs to talk to it. Owned by the command; the engine thread is
// not started yet.
struct LoadedModel {
  std::string path;
  ModelInfo info;
  std::vector<ModelLinear> linears;      // of the model that the engine owns
  std::unique_ptr<Tokenizer> tokenizer;  // null: the checkpoint brings none, and none is built in
  std::unique_ptr<ChatFormat> chat_format;  // null without a tokenizer, or when none is known
  SamplingDefaults sampling_defaults;       // what the model's files say
  AttentionPlan attention;                  // what the engine computes attention with
  std::unique_ptr<Engine> engine;

  // Ends of a turn, of the model and of its chat format.
  std::vector<TokenId> eos_token_ids() const;

  // How tokens are drawn: as the options say, else the model's files. The seed is left as it is.
  SamplingParams sampling(const SamplingOptions& options) const;
};

// Finds the folder that `model` names: a path, or a name in the local Hugging Face cache. Without
// `needs_weights`, a cached model whose weights were never downloaded will do.
Result<std::string> find_model_folder(const std::string& model, bool needs_weights = true);

Result<LoadedModel> load_for_command(const LoadOptions& options);

// --conversation-date as a conversation needs it, YYYY-MM-DD: "today" is resolved now.
std::string resolve_date(const std::string& conversation_date);

// A seed that no other run had, for when none was asked for.
std::uint64_t random_seed();

}  // namespace rapt
