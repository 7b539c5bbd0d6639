// The threads that libgc stops.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <hocket/fiber/enumeration.hpp>
#include <array>
#include <csignal>
#include <ucontext.h>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

inline constexpr std::size_t most_registers = 32;

struct collected_thread : hocket::detail::list_node {
  void* handle = nullptr;  // libgc's
  bool is_ours = false;    // enter_thread() has registered it with libgc
  stopped_thread state;
  std::array<std::uintptr_t, most_registers> registers{};
  bool is_stopped = false;  // by the signal
  stack_t signal_stack{};   // its alternate signal stack when it was stopped; valid while is_stopped
};

// Whether the calling thread is a collected_thread.
bool is_registered() noexcept;

// Sets stack_pointer and registers to the state that a signal has interrupted.
void record_interrupted_state(collected_thread& self, const ucontext_t& interrupted) noexcept;

}}}  // namespace hocket::gc::boehm
