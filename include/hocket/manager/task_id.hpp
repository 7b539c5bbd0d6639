// task_id, task_group: the numbers of managed coroutines, expected replies and groups.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// The number of a managed coroutine or of an expected reply: 64 bits for requests and logs. A manager never gives an id
// twice, and never gives `none`. Two managers may give the same id.
enum class task_id : std::uint64_t { none = 0 };

// The owner of work (a player, a connection, a tenant), by a number of the program's own. 0: no group.
struct task_group {
  constexpr task_group() noexcept = default;
  template <class Number>
    requires(std::integral<Number> || std::is_enum_v<Number>)
  constexpr task_group(Number number) noexcept : value(static_cast<std::uint64_t>(number)) {}
  friend constexpr bool operator==(task_group, task_group) noexcept = default;

  std::uint64_t value = 0;
};

}}  // namespace hocket
