#include <cstdio>
#include <memory>

#include "app/commands.h"
#include "app/json_lines.h"
#include "app/tokenizer_source.h"
#include "text/chat/harmony/harmony_lines.h"

namespace rapt {

namespace {

Result<void> harmony(const HarmonyOptions& options) {
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Tokenizer> tokenizer, load_named_tokenizer(options.tokenizer)
  );
  ASSIGN_OR_RETURN(const std::unique_ptr<HarmonyLines> lines, make_harmony_lines(*tokenizer));
  return answer_json_lines(stdin, stdout, [&](const json::value& line) -> Result<json::value> {
    return options.action == HarmonyOptions::Action::kRender ? lines->render(line)
                                                             : lines->parse(line, options.strict);
  });
}

}  // namespace

int harmony_main(const HarmonyOptions& options) {
  const Result<void> result = harmony(options);
  return result ? 0 : report_error(result.error());
}

}  // namespace rapt
