// Lists of magazines.
#pragma once
#include <hocket/stack/stack_depot.hpp>
#include <utility>

namespace hocket::inline HOCKET_ABI {

inline constexpr std::size_t unlimited = ~std::size_t{0};

inline void push(detail::magazine*& first, detail::magazine* one) noexcept {
  one->next = first;
  first = one;
}
inline detail::magazine* pop(detail::magazine*& first) noexcept { return std::exchange(first, first->next); }

}  // namespace hocket::inline HOCKET_ABI
