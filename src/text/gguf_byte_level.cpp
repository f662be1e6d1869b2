#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "text/bpe_tokenizer_internal.h"
#include "text/byte_level_internal.h"
#include "text/byte_level_model_internal.h"
#include "text/gguf_parts_internal.h"
#include "text/known_patterns_internal.h"
#include "text/o200k_harmony_internal.h"

// Byte-level BPE as GGUF files have it: tokens in the byte-level alphabet, merges, the name of a
// split.

namespace rapt {

namespace {

// What the name of a split stands for, as the tokenizer.json of the models that use it has it.
struct KnownSplit {
  std::string_view names;                    // a blank between two
  std::array<std::string_view, 5> patterns;  // the last ones may be empty
  bool whole_piece_first = false;  // a piece that is a token is not put together from its bytes
  bool adds_bos = false;           // when the file does not say it
  Normalizer normalizer = Normalizer::kNone;

  bool has_name(std::string_view name) const {
    for (std::string_view rest = names; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (rest.substr(0, end) == name) {
        return true;
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
  }
};

constexpr std::array kKnownSplits = {
    KnownSplit{"gpt-4o llama4", {kO200kPattern}, true},
    KnownSplit{"llama-bpe llama3 llama-v3 falcon3 pixtral midm-2.0", {kLlama3Pattern}, true, true},
    KnownSplit{"smaug-bpe glm4 chatglm-bpe", {kLlama3Pattern}},
    KnownSplit{"qwen2", {kQwen2Pattern}, false, false, Normalizer::kNfc},
    KnownSplit{"deepseek-r1-qwen megrez stablelm2", {kQwen2Pattern}},
    KnownSplit{"smollm starcoder refact minerva-7b", {kSmollmPattern}},
    KnownSplit{"tekken", {kTekkenPattern}, true, true},
    KnownSplit{
        "deepseek-coder",
        {"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-\uD7FF]+", kDigitPattern}},
    KnownSplit{
        "deepseek-v3",
        {R"(\p{N}{1,3})",
         "[一-龥\u3040-ゟ゠-ヿ]+",
         R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"
         R"(|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)"
         R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    KnownSplit{"gpt-2 default olmo mpt phi-2 mellum trillion", {kGpt2Pattern}},
};

Result<KnownSplit> find_split(const GgufPartsView& view) {
  const std::string_view name = view.parts().pre;
  std::string known;
  for (const KnownSplit& split : kKnownSplits) {
    if (split.has_name(name)) {
      return split;
    }
    known += (known.empty() ? "" : " ") + std::string(split.names);
  }
  return view.error(
      "\"tokenizer.ggml.pre\" is \"" + std::string(name) +
      "\", a way to split text that Rapt does not know; it knows " + known
  );
}

class ByteLevelReader {
 public:
  explicit ByteLevelReader(const GgufPartsView& view) : view_(view), parts_(view.parts()) {}

  bool is_builtin(const Tokenizer& builtin) const;
  Result<Vocabulary> read_vocabulary() const;
  std::vector<AddedToken> read_added_tokens() const;
  Result<std::vector<BytePairMerger::Merge>> read_merges(const Vocabulary& vocabulary) const;

 private:
  bool is_plain(std::size_t id) const {
    const std::int64_t type = view_.type_of(id);
    return type != kGgufControl && type != kGgufUserDefined && type != kGgufUnused;
  }

  const GgufPartsView& view_;
  const GgufTokenizerParts& parts_;
};

// Whether the file's tokens are those of o200k_harmony. Files differ in how they name the ids
// behind the last control token, which no text turns into.
bool ByteLevelReader::is_builtin(const Tokenizer& builtin) const {
  if (parts_.tokens.size() <= kLastO200kSpecial || parts_.tokens.size() > kLastO200kReserved + 1) {
    return false;
  }
  std::string bytes;
  for (std::size_t id = 0; id < kFirstO200kSpecial; ++id) {
    bytes.clear();
    if (!append_bytes_of_byte_level(parts_.tokens[id], bytes) ||
        bytes != builtin.token_bytes(static_cast<TokenId>(id))) {
      return false;
    }
  }
  for (std::size_t id = kFirstO200kSpecial; id < parts_.tokens.size(); ++id) {
    const bool has_its_name = parts_.tokens[id] == builtin.token_bytes(static_cast<TokenId>(id));
    const bool is_filler = view_.type_of(id) == kGgufUnused || view_.type_of(id) == kGgufControl;
    const bool may_be_filler = builtin.token_bytes(static_cast<TokenId>(id)).starts_with("<|res");
    if (!has_its_name && !(is_filler && may_be_filler)) {
      return false;
    }
  }
  return true;
}

Result<Vocabulary> ByteLevelReader::read_vocabulary() const {
  std::string arena;
  std::vector<std::uint32_t> lengths;
  lengths.reserve(parts_.tokens.size());
  for (std::size_t id = 0; id < parts_.tokens.size(); ++id) {
    const std::size_t size_before = arena.size();
    const std::string_view token = parts_.tokens[id];
    // A control token must not be what plain text is made of.
    if (is_plain(id) && !append_bytes_of_byte_level(token, arena)) {
      arena += token;
    }
    if (arena.size() > UINT32_MAX) {
      return view_.error("\"tokenizer.ggml.tokens\" has more than 4 GiB of text");
    }
    lengths.push_back(static_cast<std::uint32_t>(arena.size() - size_before));
  }
  return Vocabulary(std::move(arena), lengths);
}

std::vector<AddedToken> ByteLevelReader::read_added_tokens() const {
  using InText = AddedToken::InText;
  std::vector<AddedToken> tokens;
  for (std::size_t id = 0; id < parts_.tokens.size(); ++id) {
    if (is_plain(id)) {
      continue;
    }
    const std::int64_t type = view_.type_of(id);
    tokens.push_back(AddedToken{
        .id = static_cast<TokenId>(id),
        .name = std::string(parts_.tokens[id]),
        .in_text = type == kGgufControl       ? InText::kWhenAllowed
                   : type == kGgufUserDefined ? InText::kAlways
                                              : InText::kNever,
    });
  }
  return tokens;
}

Result<std::vector<BytePairMerger::Merge>> ByteLevelReader::read_merges(const Vocabulary& vocabulary
) const {
  std::vector<BytePairMerger::Merge> merges;
  merges.reserve(parts_.merges.size());
  std::string bytes;
  for (const std::string_view both : parts_.merges) {
    // No part holds a blank: the alphabet has none.
    const std::size_t blank = both.find(' ');
    const auto error = [&](std::string_view problem) {
      return view_.error(
          "\"tokenizer.ggml.merges\" number " + std::to_string(merges.size()) + ", \"" +
          std::string(both.substr(0, 64)) + "\", " + std::string(problem)
      );
    };
    if (blank == std::string_view::npos || blank == 0 || blank + 1 == both.size()) {
      return error("is no pair of tokens");
    }
    bytes.clear();
    if (!append_bytes_of_byte_level(both.substr(0, blank), bytes)) {
      return error("has characters that stand for no byte");
    }
    const std::size_t left_size = bytes.size();
    if (!append_bytes_of_byte_level(both.substr(blank + 1), bytes)) {
      return error("has characters that stand for no byte");
    }
    const std::string_view joined = bytes;
    const BytePairMerger::Merge merge{
        vocabulary.find(joined.substr(0, left_size)),
        vocabulary.find(joined.substr(left_size)),
        vocabulary.find(joined),
    };
    if (merge.left == kNoToken || merge.right == kNoToken || merge.joined == kNoToken) {
      return error("joins two of which one, or what they make, is no token");
    }
    merges.push_back(merge);
  }
  return merges;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_gguf_byte_level(const GgufPartsView& view) {
  const ByteLevelReader reader(view);
  ASSIGN_OR_RETURN(const KnownSplit split, find_split(view));
  ASSIGN_OR_RETURN(PromptFrame frame, view.read_frame(split.adds_bos, std::nullopt));
  if (split.patterns[0] == kO200kPattern && view.num_tokens() > kLastO200kSpecial &&
      frame.begin.empty() && frame.end.empty()) {
    // Its ranks and the file's merges are the same rules, and it is ready sooner.
    ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> builtin, builtin_o200k_harmony());
    if (reader.is_builtin(*builtin)) {
      return builtin;
    }
  }
  const auto last = std::find(split.patterns.begin(), split.patterns.end(), "");
  ASSIGN_OR_RETURN(
      Pretokenizer pretokenizer, Pretokenizer::compile(std::span(split.patterns.begin(), last))
  );
  ASSIGN_OR_RETURN(Vocabulary vocabulary, reader.read_vocabulary());
  ASSIGN_OR_RETURN(const auto merges, reader.read_merges(vocabulary));
  return std::unique_ptr<Tokenizer>(std::make_unique<BpeTokenizer>(
      std::make_unique<ByteLevelModel>(
          std::move(pretokenizer),
          BytePairMerger(std::move(vocabulary), merges, split.whole_piece_first),
          split.normalizer
      ),
      reader.read_added_tokens(),
      std::move(frame)
  ));
}

}  // namespace rapt
