#include <array>

#include "app/flag_table_internal.h"

// Flags of the server and of conversations.

namespace rapt {

namespace {

constexpr auto kFlags = std::to_array<FlagSpec>({
    // The server.
    {.name = "host",
     .commands = kServeCommand,
     .metavar = "ADDRESS",
     .default_text = "localhost",
     .help = "where to listen; localhost means 127.0.0.1 and ::1, :: listens on all addresses",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.serve.host = value.text; }},
    {.name = "port",
     .kind = FlagKind::kInt,
     .commands = kServeCommand,
     .metavar = "PORT",
     .default_text = "8000",
     .range = {.low = 0, .high = 65535},
     .help = "TCP port; 0: any free one, named at start",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.serve.port = static_cast<int>(value.whole); }},
    {.name = "served-model-name",
     .kind = FlagKind::kTexts,
     .commands = kServeCommand,
     .metavar = "NAME",
     .help = "names that requests may use for the model, with commas between them or the flag "
             "again for each; the first is the one in answers. Without it: MODEL as given",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.serve.served_model_names = value.texts; }},
    {.name = "api-key",
     .kind = FlagKind::kWholeTexts,
     .commands = kServeCommand,
     .metavar = "KEY",
     .is_secret = true,
     .help = "ask for this key in the Authorization header; several may be given",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.serve.api_keys = value.texts; }},
    {.name = "max-queued-requests",
     .kind = FlagKind::kInt,
     .commands = kServeCommand,
     .metavar = "N",
     .default_text = "1024",
     .range = {.low = 1, .high = 1'000'000},
     .help = "once so many choices wait, a new request is answered with status 429",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.max_queued_requests = static_cast<int>(value.whole); }},
    {.name = "inter-token-target-ms",
     .kind = FlagKind::kInt,
     .commands = kServeCommand,
     .metavar = "MS",
     .default_text = "400",
     .range = {.low = 0, .high = 60'000},
     .help =
         "while answers are being written, read prompts in chunks so small that a step takes "
         "about so many milliseconds; 0: in chunks of --max-num-batched-tokens, which brings new "
         "answers' first token sooner and stalls the others. Changes no bit of an answer",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.inter_token_target_ms = static_cast<int>(value.whole); }},
    {.name = "shutdown-timeout",
     .kind = FlagKind::kReal,
     .commands = kServeCommand,
     .metavar = "SECONDS",
     .default_text = "30",
     .range = {.low = 0, .high = 86400},
     .help = "how long requests that run may still take after SIGTERM",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.serve.shutdown_timeout_seconds = value.real; }},

    // Conversations.
    {.name = "conversation-date",
     .kind = FlagKind::kDate,
     .commands = kGenerating,
     .metavar = "DATE",
     .default_text = "today",
     .choices = "today",
     .help = "the date that the model is told",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.prompt_options.conversation_date = value.text; }},
    {.name = "chat-template",
     .commands = kGenerating,
     .metavar = "FILE",
     .help = "write conversations by the Jinja template in this file, not by the model's own",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.load.chat_template = value.text; }},
    {.name = "reasoning-effort",
     .kind = FlagKind::kChoice,
     .commands = kOneShot,
     .metavar = "EFFORT",
     .choices = "low|medium|high",
     .help = "how much the model thinks before it answers; without it: as its chat format has it, "
             "medium for gpt-oss",
     .assign = [](FlagTargets& to,
                  const FlagValue& value) { to.prompt_options.reasoning_effort = value.text; }},
    {.name = "system",
     .commands = kChatCommand,
     .metavar = "TEXT",
     .help = "instructions for the whole conversation",
     .assign = [](FlagTargets& to, const FlagValue& value) { to.chat.system = value.text; }},
});

}  // namespace

std::span<const FlagSpec> serve_flags() {
  return kFlags;
}

}  // namespace rapt
