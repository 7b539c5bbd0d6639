#include <hocket/base/cache_line.hpp>

#include <cstdint>
#include <doctest/doctest.h>
#include <string>

using namespace hocket;

TEST_CASE("padded values share no cache line") {
  padded<char> pair[2];
  static_assert(sizeof(padded<char>) == cache_line_size && alignof(padded<char>) == cache_line_size);
  auto line = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) / cache_line_size; };
  CHECK(line(&pair[0].value) != line(&pair[1].value));
  padded<std::string> text{std::in_place, 3u, 'x'};
  CHECK(*text == "xxx");
  CHECK(text->size() == 3);
}
