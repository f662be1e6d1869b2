// Any bytes as what a GGUF file says of its tokenizer, one thing a line: the model's name; the
// split's; BOS, EOS and unknown text's ids, the flags; a token a line, with its type and its score
// before it, up to an empty line; a merge a line. What is accepted must encode text without control
// tokens, but for the one for unknown text.

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/check.h"
#include "fuzz_target.h"
#include "text/end_tokens.h"
#include "text/gguf_tokenizer.h"

namespace {

std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t size = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(std::min(size + 1, rest.size()));
  return taken;
}

template <typename T>
T take_number(std::string_view& line) {
  const std::string_view text = take_until(line, ' ');
  T number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

rapt::GgufTokenizerParts parts_of(std::string_view text) {
  rapt::GgufTokenizerParts parts;
  parts.model = take_until(text, '\n');
  parts.pre = take_until(text, '\n');
  std::string_view settings = take_until(text, '\n');
  for (auto* id : {&parts.bos_id, &parts.eos_id, &parts.unknown_id}) {
    if (const auto number = take_number<std::int64_t>(settings); number >= -1) {
      *id = number;
    }
  }
  for (auto* flag : {&parts.add_bos, &parts.add_eos, &parts.add_space_prefix}) {
    if (const auto number = take_number<int>(settings); number >= 0) {
      *flag = number > 0;
    }
  }
  const bool has_types = take_number<int>(settings) >= 0;
  for (std::string_view line = take_until(text, '\n'); !line.empty();
       line = take_until(text, '\n')) {
    const auto type = take_number<std::int64_t>(line);
    if (has_types) {
      parts.token_types.push_back(type);
    }
    parts.scores.push_back(take_number<double>(line));
    parts.tokens.push_back(line);
  }
  while (!text.empty()) {
    parts.merges.push_back(take_until(text, '\n'));
  }
  return parts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const rapt::GgufTokenizerParts parts = parts_of(text);
  const auto tokenizer = rapt::make_gguf_tokenizer(parts, "the input");
  if (!tokenizer) {
    CHECK(!tokenizer.error().message.empty(), "an error without a message");
    return 0;
  }
  const rapt::Tokenizer& made = **tokenizer;
  const auto is_unknown = [&](rapt::TokenId id) {
    return parts.unknown_id == id ||
           (!parts.token_types.empty() && parts.token_types[static_cast<std::size_t>(id)] == 2);
  };
  constexpr std::string_view kSample = "It's  12345 words,\n\n \xE2\x96\x81 abab <s>\xFF ";
  for (const std::string_view sample : {kSample, text.substr(size - size % 64)}) {
    for (const rapt::TokenId id : made.encode(sample)) {
      CHECK(!made.is_special(id) || is_unknown(id), "plain text made the control token ", id);
    }
    for (const rapt::TokenId id : made.encode_prompt(sample)) {
      CHECK(id >= 0 && id < made.vocab_size(), "no id: ", id);
    }
  }
  for (const rapt::TokenId id : rapt::named_end_tokens(made)) {
    CHECK(made.is_special(id), "plain text ends a turn: ", id);
  }
  return 0;
}
