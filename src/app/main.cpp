#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/commands.h"
#include "app/flags.h"

namespace rapt {

namespace {

// One overload a command: picks the function that goes with the options.
struct RunCommand {
  int operator()(const PrintText& print) const {
    std::fputs(print.text.c_str(), stdout);
    return 0;
  }

  int operator()(const ServeOptions& options) const { return serve_main(options); }

  int operator()(const RunOptions& options) const { return run_main(options); }

  int operator()(const ChatCommandOptions& options) const { return chat_main(options); }

  int operator()(const LogitsOptions& options) const { return logits_main(options); }

  int operator()(const InspectOptions& options) const { return inspect_main(options); }

  int operator()(const TokenizeOptions& options) const { return tokenize_main(options); }

  int operator()(const DetokenizeOptions& options) const { return detokenize_main(options); }

  int operator()(const HarmonyOptions& options) const { return harmony_main(options); }

  int operator()(const BenchOptions& options) const {
    return options.action == BenchOptions::Action::kKernels ? bench_kernels_main(options)
                                                            : bench_latency_main(options);
  }

  int operator()(const EvalQualityOptions& options) const { return eval_quality_main(options); }

  int operator()(const AttentionOptions& options) const { return attention_main(options); }

  int operator()(const SelftestOptions& options) const { return selftest_main(options); }
};

Environment read_environ() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return environment;
}

int main_with(const std::vector<std::string>& args) {
  const Result<Invocation> invocation = parse_command_line(args, read_environ());
  if (!invocation) {
    return report_error(invocation.error());
  }
  for (const std::string& warning : invocation->warnings) {
    std::fprintf(stderr, "rapt: warning: %s\n", warning.c_str());
  }
  const int exit_code = std::visit(RunCommand{}, invocation->options);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return report_error(internal_error("the result could not be written to standard output"));
  }
  return exit_code;
}

// The last resort: what the commands did not foresee, such as a lack of memory.
int guarded_main(const std::vector<std::string>& args) {
  try {
    return main_with(args);
  } catch (const std::bad_alloc&) {
    return report_error(internal_error("the system has no more memory to give"));
  } catch (const std::exception& e) {
    return report_error(internal_error(e.what()));
  }
}

}  // namespace

}  // namespace rapt

int main(int argc, char** argv) {
  return rapt::guarded_main({argv + 1, argv + argc});
}
