#pragma once

#include <cstddef>
#include <cstdint>

// What every file x_fuzz.cpp defines: one input through one parser. It must return 0 and may only
// fail by a CHECK or a sanitizer's finding. libFuzzer calls it with inputs that it makes up, and
// replay_main.cpp with those of corpus/x.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
