#include <hocket/base/seam/cache_line.hpp>

#include <cstdint>
#include <doctest/doctest.h>
#include <string>

using namespace hocket;

TEST_CASE("padded values share no cache line") {
  detail::padded<char> pair[2];
  static_assert(sizeof(detail::padded<char>) == detail::cache_line_size &&
                alignof(detail::padded<char>) == detail::cache_line_size);
  auto line = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) / detail::cache_line_size; };
  CHECK(line(&pair[0].value) != line(&pair[1].value));
  detail::padded<std::string> text{std::in_place, 3u, 'x'};
  CHECK(*text == "xxx");
  CHECK(text->size() == 3);
}
