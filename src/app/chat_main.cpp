#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "app/answer_printer.h"
#include "app/commands.h"
#include "app/generate.h"
#include "app/loaded_model.h"

namespace rapt {

namespace {

constexpr char kHelp[] =
    "Type a message and press Enter. Ctrl-C stops an answer; at the prompt it leaves.\n"
    "  /new   forget the conversation\n"
    "  /help  this text\n"
    "  /exit  leave (or Ctrl-D)\n";

class TerminalChat {
 public:
  TerminalChat(LoadedModel& model, const ChatCommandOptions& options)
      : model_(model),
        options_(options),
        chat_options_(make_chat_options(options.prompt_options, *model.chat_format)) {
    forget();
  }

  Result<void> run() {
    volatile std::sig_atomic_t& interrupted = catch_interrupt();
    std::fputs(kHelp, stderr);
    while (true) {
      std::fputs("> ", stderr);
      std::string line;
      if (!std::getline(std::cin, line) || interrupted != 0 || line == "/exit") {
        std::fputs("\n", stderr);
        return {};
      }
      if (line == "/help") {
        std::fputs(kHelp, stderr);
      } else if (line == "/new") {
        forget();
      } else if (!line.empty()) {
        RETURN_IF_ERROR(answer(line, interrupted));
        interrupted = 0;
      }
    }
  }

 private:
  void forget() {
    messages_.clear();
    if (!options_.system.empty()) {
      ChatMessage system;
      system.role = ChatRole::kSystem;
      system.content = options_.system;
      messages_.push_back(system);
    }
  }

  Result<void> answer(const std::string& line, volatile std::sig_atomic_t& interrupted) {
    ChatMessage question;
    question.content = line;
    messages_.push_back(question);
    ASSIGN_OR_RETURN(
        std::vector<TokenId> prompt, model_.chat_format->render(messages_, chat_options_)
    );
    Request request = make_request(model_, std::move(prompt), options_.sampling);
    if (const auto valid = model_.engine->validate(request); !valid) {
      std::fprintf(stderr, "%s\n/new starts over\n", valid.error().message.c_str());
      messages_.pop_back();
      return {};
    }
    AnswerPrinter printer(*model_.chat_format);
    ASSIGN_OR_RETURN(
        const Generation done,
        generate(
            model_, std::move(request), [&](TokenId token) { printer.push(token); }, interrupted
        )
    );
    printer.finish();
    const bool is_terminal = isatty(STDERR_FILENO) != 0;
    std::fprintf(stderr, is_terminal ? "\x1b[2m%s\x1b[0m\n" : "%s\n", done.summary().c_str());
    ChatMessage reply;
    reply.role = ChatRole::kAssistant;
    reply.content = printer.content();
    if (!printer.reasoning().empty()) {
      reply.reasoning = printer.reasoning();
    }
    messages_.push_back(reply);
    return {};
  }

  LoadedModel& model_;
  const ChatCommandOptions& options_;
  const ChatOptions chat_options_;
  std::vector<ChatMessage> messages_;
};

Result<void> chat(const ChatCommandOptions& options) {
  ASSIGN_OR_RETURN(LoadedModel model, load_for_command(options.load));
  if (!model.tokenizer) {
    return invalid_argument(model.path + " has no tokenizer, so there is no chatting with it");
  }
  if (!model.chat_format) {
    return invalid_argument(
        "no chat format is known for " + model.path + "; `rapt run --raw` continues a text"
    );
  }
  model.engine->start();
  return TerminalChat(model, options).run();
}

}  // namespace

int chat_main(const ChatCommandOptions& options) {
  const Result<void> result = chat(options);
  return result ? 0 : report_error(result.error());
}

}  // namespace rapt
