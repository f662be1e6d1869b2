#include <utility>

#include "text/chat/jinja/interpreter_internal.h"
#include "text/chat/jinja/parser_internal.h"
#include "text/chat/jinja/template_internal.h"

namespace rapt::jinja {

Template::Template(std::unique_ptr<const Program> program) : program_(std::move(program)) {}

Template::Template(Template&&) noexcept = default;

Template& Template::operator=(Template&&) noexcept = default;

Template::~Template() = default;

Result<Template> Template::compile(std::string_view source) {
  ASSIGN_OR_RETURN(std::unique_ptr<Program> program, parse_template(source));
  return Template(std::move(program));
}

Result<MarkedText> Template::render(const Dict& variables, const RenderOptions& options) const {
  return Interpreter(*program_, variables, options).run();
}

}  // namespace rapt::jinja
