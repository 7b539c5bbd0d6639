// Lists of magazines.
#pragma once
#include <hocket/stack/stack_depot.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline constexpr std::size_t unlimited = ~std::size_t{0};

inline void push(magazine*& first, magazine* added) noexcept {
  added->next = first;
  first = added;
}
inline magazine* pop(magazine*& first) noexcept { return std::exchange(first, first->next); }

}}}  // namespace hocket::detail
