// The number of a managed coroutine or of an expected reply, and of what it belongs to.
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// 64 bits that may travel: in a request, in a log. An id is never given twice by one manager; `none` is never given.
// Another manager may give the same ones.
enum class task_id : std::uint64_t { none = 0 };

// Whom work belongs to: a player, a connection, a tenant, by a number of the program's own. 0: nobody.
struct task_group {
  constexpr task_group() noexcept = default;
  template <class Number>
    requires(std::integral<Number> || std::is_enum_v<Number>)
  constexpr task_group(Number number) noexcept : value(static_cast<std::uint64_t>(number)) {}
  friend constexpr bool operator==(task_group, task_group) noexcept = default;

  std::uint64_t value = 0;
};

}}  // namespace hocket
