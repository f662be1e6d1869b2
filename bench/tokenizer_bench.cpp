// How fast text becomes token ids, on one thread: bytes of UTF-8 a second with the tokenizer of
// gpt-oss. The texts are made here, so that the figures can be had anywhere.

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace rapt {
namespace {

constexpr std::size_t kTextBytes = 4UL << 20;
constexpr std::size_t kRunLength = 1'000'000;

const Tokenizer& o200k_harmony() {
  static const std::unique_ptr<Tokenizer> tokenizer = *builtin_o200k_harmony();
  return *tokenizer;
}

// A linear congruential generator with the constants of Knuth's MMIX; its high bits are random
// enough to pick words by.
class Picker {
 public:
  std::size_t below(std::size_t bound) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>((state_ >> 33) % bound);
  }

 private:
  std::uint64_t state_ = 1;
};

template <std::size_t N>
std::string text_of_words(const std::array<std::string_view, N>& words, std::string_view gap) {
  Picker picker;
  std::string text;
  while (text.size() < kTextBytes) {
    // Low indices are drawn more often, as common words are.
    const std::size_t bound = 1 + picker.below(N);
    text += words[picker.below(bound)];
    text += picker.below(12) == 0 ? std::string_view(".\n") : gap;
  }
  return text;
}

std::string english() {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"the",       "of",        "and",       "a",          "to",           "in",
       "is",        "you",       "that",      "it's",       "he",           "was",
       "for",       "on",        "are",       "with",       "as",           "I",
       "they",      "be",        "at",        "one",        "have",         "this",
       "from",      "had",       "by",        "words,",     "but",          "not",
       "what",      "all",       "were",      "we're",      "when",         "your",
       "can",       "said",      "there",     "Tokenizers", "measurement",  "hippopotamus",
       "1984",      "(perhaps)", "\"so\"",    "London",     "quicksilver",  "unforgettable",
       "paragraph", "bandwidth", "scheduler", "isn't",      "constitution", "3.14159"}
  );
  return text_of_words(kWords, " ");
}

std::string source_code() {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"  ",
       "int ",
       "= ",
       "(",
       ");\n",
       "std::vector<int> ",
       "return ",
       "if (x != 0) {",
       "}\n\n",
       "\t\t",
       "// comment\n",
       "value_",
       "camelCaseName",
       "0x7fff",
       "->next",
       "&&",
       "[i]",
       "template <typename T>",
       "\"text\\n\"",
       "for (",
       "++i",
       "#include",
       "NULL",
       "size_t num_bytes"}
  );
  return text_of_words(kWords, "");
}

// Scripts that a vocabulary knows few words of, so that bytes must be joined one by one.
std::string rare_scripts() {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"ᚠᛇᚻ",
       "𐌰𐍄𐍄𐌰",
       "ⲁⲛⲟⲕ",
       "ᏣᎳᎩ",
       "ꦗꦮ",
       "ᠮᠣᠩᠭᠣᠯ",
       "དབུས་གཙང",
       "ភាសាខ្មែរ",
       "ພາສາລາວ",
       "አማርኛ",
       "ᬩᬮᬶ",
       "𐤀𐤁𐤂",
       "ⵜⴰⵎⴰⵣⵉⵖⵜ",
       "ߒߞߏ",
       "ဗမာစာ",
       "සිංහල",
       "ᜊᜌ᜔ᜊᜌᜒᜈ᜔",
       "ꯃꯩꯇꯩ"}
  );
  return text_of_words(kWords, " ");
}

std::string mixed_scripts() {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"日本語のテスト",
       "Привет, мир",
       "hello",
       "नमस्ते दुनिया",
       "مرحبا بالعالم",
       "안녕하세요",
       "Καλημέρα",
       "你好,世界。",
       "שלום",
       "สวัสดีชาวโลก",
       "👩‍👩‍👧‍👦🇺🇸",
       "café naïve",
       "１２３４",
       "ﬁ ﷺ Ⅷ",
       "\u00a0",
       "e\u0301a\u0308",
       "ⵜⴰⵎⴰⵣⵉⵖⵜ",
       "የኢትዮጵያ"}
  );
  return text_of_words(kWords, " ");
}

// Every code point that is a character or could become one, in a shuffled order.
std::string all_code_points() {
  Picker picker;
  std::string text;
  while (text.size() < kTextBytes) {
    const auto code_point = static_cast<std::uint32_t>(picker.below(0x110000));
    if (code_point < 0x800 || (code_point >= 0xD800 && code_point < 0xE000)) {
      text += static_cast<char>(code_point % 0x80);
    } else if (code_point < 0x10000) {
      text += static_cast<char>(0xE0U | (code_point >> 12));
      text += static_cast<char>(0x80U | ((code_point >> 6) & 0x3FU));
      text += static_cast<char>(0x80U | (code_point & 0x3FU));
    } else {
      text += static_cast<char>(0xF0U | (code_point >> 18));
      text += static_cast<char>(0x80U | ((code_point >> 12) & 0x3FU));
      text += static_cast<char>(0x80U | ((code_point >> 6) & 0x3FU));
      text += static_cast<char>(0x80U | (code_point & 0x3FU));
    }
  }
  return text;
}

void encode_text(benchmark::State& state, const std::string& text) {
  std::size_t num_tokens = 0;
  for (auto _ : state) {
    num_tokens = o200k_harmony().encode(text).size();
    benchmark::DoNotOptimize(num_tokens);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["bytes_a_token"] =
      static_cast<double>(text.size()) / static_cast<double>(num_tokens);
}

// A million times the same character: one piece of text in which nothing may take quadratic time.
std::string run_of(std::string_view unit) {
  std::string text;
  for (std::size_t i = 0; i < kRunLength; ++i) {
    text += unit;
  }
  return text;
}

BENCHMARK_CAPTURE(encode_text, english, english());
BENCHMARK_CAPTURE(encode_text, source_code, source_code());
BENCHMARK_CAPTURE(encode_text, mixed_scripts, mixed_scripts());
BENCHMARK_CAPTURE(encode_text, rare_scripts, rare_scripts());
BENCHMARK_CAPTURE(encode_text, all_code_points, all_code_points());

BENCHMARK_CAPTURE(encode_text, run_of_x, run_of("x"));
BENCHMARK_CAPTURE(encode_text, run_of_blanks, run_of(" "));
BENCHMARK_CAPTURE(encode_text, run_of_newlines, run_of("\n"));
BENCHMARK_CAPTURE(encode_text, run_of_digits, run_of("7"));
BENCHMARK_CAPTURE(encode_text, run_of_han, run_of("日"));
BENCHMARK_CAPTURE(encode_text, run_of_exclamations, run_of("!"));
BENCHMARK_CAPTURE(encode_text, run_of_marks, run_of("\u0301"));
BENCHMARK_CAPTURE(encode_text, run_of_tabs_and_newlines, run_of("\t\n"));
BENCHMARK_CAPTURE(encode_text, run_of_capitals, run_of("X"));
BENCHMARK_CAPTURE(encode_text, run_of_emoji, run_of("😀"));

}  // namespace
}  // namespace rapt

BENCHMARK_MAIN();
