#include <lzma.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "text/bpe_tokenizer_internal.h"
#include "text/byte_level_model_internal.h"
#include "text/known_patterns_internal.h"
#include "text/o200k_harmony_internal.h"
#include "text/tokenizer.h"

// The packed vocabulary (data/README.md) as bytes of this object file. RAPT_O200K_DATA is its path.
asm(".pushsection .rodata,\"a\"\n"
    ".global rapt_o200k_data_begin\n"
    ".global rapt_o200k_data_end\n"
    "rapt_o200k_data_begin:\n"
    ".incbin \"" RAPT_O200K_DATA
    "\"\n"
    "rapt_o200k_data_end:\n"
    ".popsection\n");

extern "C" {
extern const std::uint8_t rapt_o200k_data_begin[];
extern const std::uint8_t rapt_o200k_data_end[];
}

namespace rapt {

namespace {

constexpr std::size_t kNumRanks = 199'998;
constexpr std::size_t kUnpackedBytes = 1'597'668;
constexpr std::uint64_t kMaxUnpackMemory = 128ULL << 20;

std::string unpack_vocabulary() {
  const std::span<const std::uint8_t> packed(rapt_o200k_data_begin, rapt_o200k_data_end);
  std::string unpacked(kUnpackedBytes, '\0');
  std::uint64_t memory_limit = kMaxUnpackMemory;
  std::size_t in_pos = 0;
  std::size_t out_pos = 0;
  // Checks the stream's CRC-64 too.
  const lzma_ret status = lzma_stream_buffer_decode(
      &memory_limit,
      0,
      nullptr,
      packed.data(),
      &in_pos,
      packed.size(),
      reinterpret_cast<std::uint8_t*>(unpacked.data()),
      &out_pos,
      unpacked.size()
  );
  CHECK(
      status == LZMA_OK && out_pos == unpacked.size(),
      "the vocabulary inside the binary is damaged: liblzma's status ",
      static_cast<int>(status),
      " after ",
      out_pos,
      " bytes"
  );
  return unpacked;
}

}  // namespace

std::vector<AddedToken> o200k_harmony_added_tokens() {
  using InText = AddedToken::InText;
  std::vector<AddedToken> tokens;
  for (TokenId id = kFirstO200kSpecial; id <= kLastO200kReserved; ++id) {
    std::string name = "<|reserved_" + std::to_string(id) + "|>";
    tokens.push_back(
        {.id = id,
         .name = std::move(name),
         .in_text = id <= kLastO200kSpecial ? InText::kWhenAllowed : InText::kNever}
    );
  }
  for (const auto& [id, name] : std::initializer_list<std::pair<TokenId, const char*>>{
           {199'998, "<|startoftext|>"},
           {199'999, "<|endoftext|>"},
           {200'002, "<|return|>"},
           {200'003, "<|constrain|>"},
           {200'005, "<|channel|>"},
           {200'006, "<|start|>"},
           {200'007, "<|end|>"},
           {200'008, "<|message|>"},
           {200'012, "<|call|>"},
           {200'018, "<|endofprompt|>"},
       }) {
    tokens[static_cast<std::size_t>(id - kFirstO200kSpecial)].name = name;
  }
  return tokens;
}

void complete_o200k_harmony(std::vector<AddedToken>& tokens) {
  std::vector<AddedToken> builtin = o200k_harmony_added_tokens();
  std::size_t num_found = 0;
  for (const AddedToken& token : tokens) {
    const auto offset = static_cast<std::size_t>(token.id - kFirstO200kSpecial);
    if (token.id < kFirstO200kSpecial || offset >= builtin.size() ||
        builtin[offset].name != token.name) {
      return;
    }
    ++num_found;
  }
  if (num_found == kLastO200kSpecial - kFirstO200kSpecial + 1) {
    tokens = std::move(builtin);
  }
}

Result<std::unique_ptr<Tokenizer>> builtin_o200k_harmony() {
  std::string arena = unpack_vocabulary();
  std::vector<std::uint32_t> lengths(kNumRanks);
  for (std::size_t rank = 0; rank < kNumRanks; ++rank) {
    lengths[rank] = static_cast<std::uint8_t>(arena[rank]);
  }
  arena.erase(0, kNumRanks);
  ASSIGN_OR_RETURN(Pretokenizer pretokenizer, Pretokenizer::compile(kO200kPattern));
  return std::unique_ptr<Tokenizer>(std::make_unique<BpeTokenizer>(
      std::make_unique<ByteLevelModel>(
          std::move(pretokenizer), BytePairMerger(Vocabulary(std::move(arena), lengths))
      ),
      o200k_harmony_added_tokens()
  ));
}

}  // namespace rapt
