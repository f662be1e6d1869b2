#pragma once

#include "app/flags.h"

// One function a command, each in a file of its name (serve_main.cpp, ...). Called by main() on the
// main thread, once; the value returned is the exit code: 0 for success, 2 when the user or a file
// is at fault, 1 when Rapt is. Each prints its own errors, to stderr.

namespace rapt {

int serve_main(const ServeOptions& options);
int run_main(const RunOptions& options);
int chat_main(const ChatCommandOptions& options);
int logits_main(const LogitsOptions& options);
int inspect_main(const InspectOptions& options);
int tokenize_main(const TokenizeOptions& options);
int detokenize_main(const DetokenizeOptions& options);
int harmony_main(const HarmonyOptions& options);
int bench_latency_main(const BenchOptions& options);
int bench_kernels_main(const BenchOptions& options);
int eval_quality_main(const EvalQualityOptions& options);
int attention_main(const AttentionOptions& options);
int selftest_main(const SelftestOptions& options);

// The exit code that goes with an error.
int exit_code_of(const Error& error);
// Prints "rapt: <message>" to stderr and returns the exit code.
int report_error(const Error& error);

}  // namespace rapt
