#include <utility>

#include "text/piece_model_internal.h"
#include "text/piece_names_internal.h"
#include "text/tokenizer_json_internal.h"

// SentencePiece's BPE as tokenizer.json has it: a list of merges made from the scores.

namespace rapt {

namespace {

using Prefix = BlankRules::Prefix;

// Prepend and Replace, as files of Llama 2 have it; or nothing.
Result<bool> read_normalizer(const TokenizerJson& file, BlankRules& blanks) {
  ASSIGN_OR_RETURN(const auto steps, file.read_steps("normalizer", "normalizers"));
  bool replaces = false;
  for (const json::object* step : steps) {
    const std::string_view type = string_or_empty(*step, "type");
    const json::object* pattern = find_object(*step, "pattern");
    if (type == "Prepend" && string_or_empty(*step, "prepend") == kBlankMark && !replaces) {
      blanks.prefix = Prefix::kAlways;
    } else if (type == "Replace" && pattern != nullptr &&
               string_or_empty(*pattern, "String") == " " &&
               string_or_empty(*step, "content") == kBlankMark) {
      replaces = true;
    } else {
      return file.error(
          "the normalizer has the step '",
          type,
          "'; of tokenizers without ByteLevel, only Prepend of \"\u2581\" and Replace of \" \" by "
          "\"\u2581\", in this order, are supported"
      );
    }
  }
  if (!steps.empty() && !replaces) {
    return file.error("the normalizer prepends \"\u2581\" but does not replace \" \" by it");
  }
  return replaces;
}

Result<void> read_metaspace(
    const TokenizerJson& file, const json::object& step, BlankRules& blanks
) {
  if (string_or_empty(step, "replacement") != kBlankMark) {
    return file.error("a Metaspace pre-tokenizer must have the replacement \"\u2581\"");
  }
  // Old files say it with a flag.
  const std::string_view by_flag = flag(step, "add_prefix_space", true) ? "always" : "never";
  const std::string_view named = string_or_empty(step, "prepend_scheme");
  const std::string_view scheme = named.empty() ? by_flag : named;
  blanks.is_normalizer = false;
  blanks.splits_always = flag(step, "split", true);
  if (scheme == "always") {
    blanks.prefix = Prefix::kUnlessBlank;
  } else if (scheme == "first") {
    blanks.prefix = Prefix::kFirstUnlessBlank;
  } else if (scheme == "never") {
    blanks.prefix = Prefix::kNone;
  } else {
    return file.error(
        "a Metaspace pre-tokenizer has the prepend_scheme '",
        scheme,
        "'; expected always, first or never"
    );
  }
  return {};
}

Result<BlankRules> read_blanks(const TokenizerJson& file) {
  BlankRules blanks;
  ASSIGN_OR_RETURN(const bool replaces, read_normalizer(file, blanks));
  ASSIGN_OR_RETURN(const auto steps, file.read_steps("pre_tokenizer", "pretokenizers"));
  const std::string_view type = steps.empty() ? "" : string_or_empty(*steps.front(), "type");
  const json::object* pattern = steps.empty() ? nullptr : find_object(*steps.front(), "pattern");
  if (steps.size() == 1 && type == "Metaspace" && !replaces) {
    RETURN_IF_ERROR(read_metaspace(file, *steps.front(), blanks));
    return blanks;
  }
  // Gemma's files split at blanks, of which the normalizer has left none.
  const bool splits_nothing = type == "Split" && replaces && pattern != nullptr &&
                              string_or_empty(*pattern, "String") == " ";
  if (steps.size() > 1 || (steps.size() == 1 && !splits_nothing)) {
    return file.error(
        "pre_tokenizer has the step '", type, "'; without ByteLevel, only Metaspace is supported"
    );
  }
  if (!replaces) {
    return file.error(
        "neither pre_tokenizer nor normalizer says what to do with blanks: only byte-level BPE, "
        "and "
        "BPE with \"\u2581\" for a blank, are supported"
    );
  }
  return blanks;
}

std::optional<std::string> as_it_is(std::string_view name) {
  return std::string(name);
}

}  // namespace

Result<PieceModelAndPrefix> read_piece_model(TokenizerJson& file) {
  if (flag(file.model, "ignore_merges", false)) {
    return file.error("model.ignore_merges is true without ByteLevel, which is not supported");
  }
  ASSIGN_OR_RETURN(const BlankRules blanks, read_blanks(file));
  ASSIGN_OR_RETURN(const JsonBpe bpe, read_bpe(file));
  const bool has_byte_fallback = flag(file.model, "byte_fallback", false);
  PieceMerger::Unknown unknown;
  unknown.joins_runs = flag(file.model, "fuse_unk", false);
  const std::string_view unknown_name = string_or_empty(file.model, "unk_token");
  if (const json::value* id = file.model.at("vocab").get_object().if_contains(unknown_name)) {
    unknown.id = token_id(id).value_or(kNoToken);
  }
  std::string arena;
  std::vector<std::uint32_t> lengths;
  std::vector<std::string> bytes;
  for (const std::string_view token : bpe.tokens) {
    const auto byte = byte_of_piece(token);
    const auto id = static_cast<TokenId>(bytes.size());
    bytes.push_back(byte ? std::string(1, static_cast<char>(*byte)) : with_blanks(token));
    if (byte && has_byte_fallback) {
      unknown.byte_ids[*byte] = id;
    }
    const bool is_piece = !(byte && has_byte_fallback);
    arena += is_piece ? token : std::string_view();
    lengths.push_back(is_piece ? static_cast<std::uint32_t>(token.size()) : 0);
  }
  for (AddedToken& added : file.added_tokens) {
    if (added.in_text == AddedToken::InText::kAlways) {
      added.written = with_blanks(added.name);
    }
  }
  Vocabulary vocabulary(std::move(arena), lengths);
  ASSIGN_OR_RETURN(const auto merges, resolve_merges(file, bpe, vocabulary, as_it_is));
  return PieceModelAndPrefix{
      std::make_unique<PieceModel>(
          PieceMerger(std::move(vocabulary), merges, unknown), std::move(bytes), blanks
      ),
      blanks.prefix != Prefix::kNone,
  };
}

}  // namespace rapt
