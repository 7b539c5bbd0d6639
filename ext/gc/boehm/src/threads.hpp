// The threads that libgc stops, as hocket knows them.
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
  bool is_ours = false;    // we have registered it with libgc
  stopped_thread told;
  std::array<std::uintptr_t, most_registers> registers{};
  bool is_stopped = false;  // by the signal
  stack_t signal_stack{};   // its alternate signal stack when it was stopped; valid while is_stopped
};

// Whether the calling thread is one.
bool is_registered() noexcept;

// What a signal has interrupted: fills in stack_pointer and registers.
void note_interrupted(collected_thread& self, const ucontext_t& at) noexcept;

}}}  // namespace hocket::gc::boehm
