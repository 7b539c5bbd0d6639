// A fuzzer has one entry point. libFuzzer calls it (preset with clang, -DHOCKET_FUZZ=ON), or driver.cpp, which mutates
// the corpus in a fixed order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hocket_fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the program if a property does not hold. Also in builds without assertions.
inline void expect(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "fuzzer: not true: %s\n", property);
  std::abort();
}

}  // namespace hocket_fuzz
