#include <array>
#include <charconv>
#include <cstdlib>

#include "server/api/openai/answer_parts_internal.h"
#include "text/tokenizer.h"

namespace rapt::openai {

namespace {

// The double whose shortest decimal form is that of the float: -0.1, not -0.10000000149011612.
double shortest(float value) {
  std::array<char, 32> text{};
  const auto [text_end, to_status] = std::to_chars(text.data(), text.data() + text.size(), value);
  double result = 0.0;
  std::from_chars(text.data(), text_end, result);
  return result;
}

std::string_view bytes_of(TokenId token, const Tokenizer* tokenizer) {
  return tokenizer == nullptr ? std::string_view() : tokenizer->token_bytes(token);
}

json::object chat_entry(const TokenLogprob& logprob, const Tokenizer* tokenizer, bool with_id) {
  json::object entry;
  entry["token"] = token_text(logprob.token, tokenizer);
  entry["logprob"] = shortest(logprob.logprob);
  json::array bytes;
  for (const char byte : bytes_of(logprob.token, tokenizer)) {
    bytes.emplace_back(static_cast<unsigned char>(byte));
  }
  entry["bytes"] = std::move(bytes);
  if (with_id) {
    entry["token_id"] = logprob.token;
  }
  return entry;
}

// Keys of a JSON object must differ, and two tokens that are no whole characters look the same:
// such tokens are spelled as bytes, the way OpenAI does it.
std::string completion_key(TokenId token, const Tokenizer* tokenizer) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = token_text(token, tokenizer);
  const std::string_view bytes = bytes_of(token, tokenizer);
  if (tokenizer == nullptr || text == bytes) {
    return text;
  }
  text = "bytes:";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += "\\x";
    text += kHex[byte >> 4U];
    text += kHex[byte & 15U];
  }
  return text;
}

}  // namespace

json::object chat_logprobs(
    const std::vector<LogprobEntry>& entries, const Tokenizer* tokenizer, bool with_ids
) {
  json::array content;
  for (const LogprobEntry& entry : entries) {
    json::object item = chat_entry(entry.drawn, tokenizer, with_ids);
    json::array top;
    for (const TokenLogprob& other : entry.top) {
      top.emplace_back(chat_entry(other, tokenizer, with_ids));
    }
    item["top_logprobs"] = std::move(top);
    content.emplace_back(std::move(item));
  }
  json::object logprobs;
  logprobs["content"] = std::move(content);
  logprobs["refusal"] = nullptr;
  return logprobs;
}

json::object completion_logprobs(
    const std::vector<LogprobEntry>& entries, const Tokenizer* tokenizer
) {
  json::array tokens;
  json::array token_logprobs;
  json::array top_logprobs;
  json::array text_offset;
  for (const LogprobEntry& entry : entries) {
    const std::string key = completion_key(entry.drawn.token, tokenizer);
    json::object top;
    for (const TokenLogprob& other : entry.top) {
      top[completion_key(other.token, tokenizer)] = shortest(other.logprob);
    }
    // The drawn token is always among them, also when it is not one of the best.
    top[key] = shortest(entry.drawn.logprob);
    tokens.emplace_back(key);
    token_logprobs.emplace_back(shortest(entry.drawn.logprob));
    top_logprobs.emplace_back(std::move(top));
    text_offset.emplace_back(entry.text_offset);
  }
  json::object logprobs;
  logprobs["tokens"] = std::move(tokens);
  logprobs["token_logprobs"] = std::move(token_logprobs);
  logprobs["top_logprobs"] = std::move(top_logprobs);
  logprobs["text_offset"] = std::move(text_offset);
  return logprobs;
}

}  // namespace rapt::openai
