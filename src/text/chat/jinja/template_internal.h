#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/chat/jinja/marked_text_internal.h"
#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

struct Program;

// What a template may use. A template comes with a model's files, so it is no more to be trusted
// than these.
struct Limits {
  // Whatever a template does with them: 2 s and 0.4 GB at most, measured on a Zen 5 core over some
  // thousand templates that each do one expensive thing again and again. A conversation of 5,000
  // messages and 5 MB takes well under half of them.
  std::uint64_t max_steps = 10'000'000;
  int max_depth = 600;  // statements, expressions and macro calls inside each other
};

struct RenderOptions {
  std::optional<std::string> date = {};  // YYYY-MM-DD for strftime_now(); absent: there is none
  Limits limits = {};
};

// A compiled template: read once, rendered by any number of threads at once.
class Template {
 public:
  // Reads a template as Hugging Face's library does: trim_blocks and lstrip_blocks on, the line
  // feed at the very end dropped. The error begins with "line N: ".
  static Result<Template> compile(std::string_view source);

  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  // What the template makes of `variables`. The error begins with "line N: ".
  Result<MarkedText> render(const Dict& variables, const RenderOptions& options = {}) const;

 private:
  explicit Template(std::unique_ptr<const Program> program);

  std::unique_ptr<const Program> program_;
};

}  // namespace rapt::jinja
