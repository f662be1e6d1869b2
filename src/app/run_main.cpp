#include <cstdio>

#include "app/answer_printer.h"
#include "app/commands.h"
#include "app/generate.h"
#include "app/loaded_model.h"
#include "text/detokenizer.h"

namespace rapt {

namespace {

Result<std::vector<TokenId>> prompt_tokens(const RunOptions& options, const LoadedModel& model) {
  if (options.token_ids) {
    return *options.token_ids;
  }
  if (!model.tokenizer) {
    return invalid_argument(
        model.path + " has no tokenizer, so a text prompt cannot be read; give --token-ids"
    );
  }
  if (options.raw) {
    return model.tokenizer->encode_prompt(options.prompt);
  }
  if (!model.chat_format) {
    return invalid_argument(
        "no chat format is known for " + model.path +
        "; --raw gives it the prompt as it is, to be continued"
    );
  }
  ChatMessage message;
  message.content = options.prompt;
  return model.chat_format->render(
      std::span(&message, 1), make_chat_options(options.prompt_options, *model.chat_format)
  );
}

void print_ids(const std::vector<TokenId>& ids) {
  for (std::size_t idx = 0; idx < ids.size(); ++idx) {
    std::printf("%s%d", idx == 0 ? "" : ",", ids[idx]);
  }
  std::printf("\n");
}

// As shells report a program that Ctrl-C ended.
constexpr int kInterruptedExitCode = 130;

int exit_code_of(const Generation& done) {
  return done.finish == FinishReason::kAbort ? kInterruptedExitCode : 0;
}

Result<int> run(const RunOptions& options) {
  ASSIGN_OR_RETURN(LoadedModel model, load_for_command(options.load));
  ASSIGN_OR_RETURN(std::vector<TokenId> prompt, prompt_tokens(options, model));
  const bool is_chat = !options.raw && !options.token_ids;
  const bool prints_ids = options.print_token_ids || !model.tokenizer;
  Request request = make_request(model, std::move(prompt), options.sampling);
  request.stop.ignore_eos = options.ignore_eos;
  volatile std::sig_atomic_t& interrupted = catch_interrupt();
  model.engine->start();
  if (prints_ids) {
    ASSIGN_OR_RETURN(
        const Generation done,
        generate(
            model, std::move(request), [](TokenId) {}, interrupted
        )
    );
    print_ids(done.tokens);
    return exit_code_of(done);
  }
  Generation done;
  if (is_chat) {
    AnswerPrinter printer(*model.chat_format);
    const auto show = [&](TokenId token) { printer.push(token); };
    ASSIGN_OR_RETURN(done, generate(model, std::move(request), show, interrupted));
    printer.finish();
  } else {
    Detokenizer detokenizer(*model.tokenizer);
    const auto show = [&](TokenId token) {
      std::fputs(detokenizer.push(token).c_str(), stdout);
      std::fflush(stdout);
    };
    ASSIGN_OR_RETURN(done, generate(model, std::move(request), show, interrupted));
    std::printf("%s\n", detokenizer.finish().c_str());
  }
  std::fprintf(stderr, "%s\n", done.summary().c_str());
  return exit_code_of(done);
}

}  // namespace

int run_main(const RunOptions& options) {
  const Result<int> result = run(options);
  return result ? *result : report_error(result.error());
}

}  // namespace rapt
