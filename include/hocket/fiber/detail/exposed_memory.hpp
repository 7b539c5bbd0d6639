// The bytes of an operand that a wait exposes to other threads.
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <concepts>
#include <span>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The bytes of an operand in which other threads may find addresses of the fiber's stack. `all`: the places of such
// addresses are unknown (a task keeps its arguments in its frame).
struct exposed_memory {
  const void* data = nullptr;
  std::size_t size = 0;
  bool all = false;
  static constexpr std::size_t max_lists = 8;
  std::span<const std::byte> lists[max_lists] = {};  // more bytes, elsewhere: lists of buffers
};

template <class Op, class Options>
exposed_memory exposed_memory_of(const operation<Op, Options>& operand) noexcept {
  static_assert(
      std::has_unique_object_representations_v<Op> || alignof(Op) > sizeof(void*),
      "hocket: an operation that a fiber waits for has no padding: see op_flag in core/wait/seam/operation.hpp");
  exposed_memory memory{&operand.op(), sizeof(Op)};
  if constexpr (lists_addresses<Op>) {
    memory.lists[0] = operand.op().list_of_addresses();
  } else if constexpr (requires { Op::address_lists; }) {
    static_assert(Op::address_lists <= exposed_memory::max_lists, "hocket: a select of more than 8 lists of buffers");
    std::size_t count = 0;
    operand.op().visit_address_lists([&](std::span<const std::byte> list) noexcept { memory.lists[count++] = list; });
  }
  return memory;
}
template <class A>
exposed_memory exposed_memory_of(const A& operand) noexcept {
  if constexpr (requires { operand.awaited(); }) return exposed_memory_of(operand.awaited());  // an adaptor
  else if constexpr (requires { A::is_run_by_others; }) return {&operand, sizeof operand, true};
  else return {nullptr, 0, is_task<A> || std::derived_from<std::remove_cvref_t<awaiter_of<A>>, body_awaiter>};
}

}}}  // namespace hocket::detail
