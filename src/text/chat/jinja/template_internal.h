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
  std::uint64_t max_steps = 10'000'000;  // a second or two
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
