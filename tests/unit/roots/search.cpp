#include "unit/roots/search.hpp"

#include <cstring>

namespace hocket_test {

void search::in(const void* low, const void* high) noexcept {
  constexpr std::uintptr_t upper_half = ~inverted(0) >> 32;
  auto at = (reinterpret_cast<std::uintptr_t>(low) + 7) & ~std::uintptr_t{7};
  for (; at + 8 <= reinterpret_cast<std::uintptr_t>(high); at += 8) {
    std::uintptr_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(at), sizeof word);
    if (word >> 32 == upper_half) note(word);
  }
}

}  // namespace hocket_test
