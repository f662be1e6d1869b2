#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>

#include "app/commands.h"
#include "app/generate.h"
#include "app/loaded_model.h"

namespace rapt {

namespace {

// Writes rows of logits to stdout as they are computed, in one of the formats.
class LogitsWriter {
 public:
  LogitsWriter(LogitsFormat format, std::size_t num_rows, int vocab_size) : format_(format) {
    if (format_ == LogitsFormat::kNpy) {
      write_npy_header(num_rows, vocab_size);
    } else {
      std::fputs("[", stdout);
    }
  }

  void write_row(std::span<const float> row) {
    if (format_ == LogitsFormat::kNpy) {
      std::fwrite(row.data(), sizeof(float), row.size(), stdout);
      return;
    }
    std::string text = is_first_ ? "[" : ",\n[";
    is_first_ = false;
    for (std::size_t idx = 0; idx < row.size(); ++idx) {
      text += idx == 0 ? "" : ",";
      append_number(text, row[idx]);
    }
    text += "]";
    std::fwrite(text.data(), 1, text.size(), stdout);
  }

  void finish() {
    if (format_ == LogitsFormat::kJson) {
      std::fputs("]\n", stdout);
    }
    std::fflush(stdout);
  }

 private:
  // JSON knows no NaN and no infinity: null stands for them.
  static void append_number(std::string& text, float value) {
    if (!std::isfinite(value)) {
      text += "null";
      return;
    }
    std::array<char, 32> digits{};
    const auto [end, status] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    text.append(digits.data(), end);
  }

  // Version 1.0 of numpy's format: magic, header length, a Python dict padded to 64 bytes.
  static void write_npy_header(std::size_t num_rows, int vocab_size) {
    std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(num_rows) + ", " + std::to_string(vocab_size) + "), }";
    constexpr std::size_t kPreamble = 10;
    const std::size_t total = (kPreamble + dict.size() + 1 + 63) / 64 * 64;
    dict.resize(total - kPreamble - 1, ' ');
    dict += '\n';
    const std::array<char, kPreamble> preamble = {
        '\x93',
        'N',
        'U',
        'M',
        'P',
        'Y',
        1,
        0,
        static_cast<char>(dict.size() & 0xFF),
        static_cast<char>(dict.size() >> 8)};
    std::fwrite(preamble.data(), 1, preamble.size(), stdout);
    std::fwrite(dict.data(), 1, dict.size(), stdout);
  }

  LogitsFormat format_;
  bool is_first_ = true;
};

Result<void> logits(const LogitsOptions& options) {
  ASSIGN_OR_RETURN(LoadedModel model, load_for_command(options.load));
  Request request = make_request(model, options.token_ids, SamplingOptions{});
  request.rope_position_offset = options.position_offset;
  request.tap_all_positions = !options.only_last;
  // Only a position that draws a token has its logits computed, unless the tap wants all.
  request.stop.max_tokens = options.only_last ? 1 : 0;
  request.sampling.temperature = 0.0F;
  RETURN_IF_ERROR(model.engine->validate(request));
  LogitsWriter writer(
      options.format, options.only_last ? 1 : options.token_ids.size(), model.info.vocab_size
  );
  request.logits_tap = [&](int, int, std::span<const float> row) { writer.write_row(row); };
  volatile std::sig_atomic_t& interrupted = catch_interrupt();
  model.engine->start();
  RETURN_IF_ERROR(generate(
      model, std::move(request), [](TokenId) {}, interrupted
  ));
  writer.finish();
  return {};
}

}  // namespace

int logits_main(const LogitsOptions& options) {
  const Result<void> result = logits(options);
  return result ? 0 : report_error(result.error());
}

}  // namespace rapt
