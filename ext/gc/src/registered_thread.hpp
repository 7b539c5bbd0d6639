// A thread that is registered with the world.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/gc/root.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::detail {

struct registered_thread : hocket::detail::list_node {
  halt::mark mark{halt::inside};
  bool away = false;  // it counts as stopped, or is the one that stops the world
  stopped_thread told;
  root_list roots;             // of its plain code, while that has no slot
  slot_core* plain = nullptr;  // the slot of its plain code
};

// The calling one's; null: it is not registered.
registered_thread* own_thread() noexcept;
// It guards the lists of threads and slots, and is held while the world is stopped.
primitive::thread_mutex& world_mutex() noexcept;
// Fatal unless the caller has stopped the world.
void expect_stopped_world(const char* message) noexcept;
// While the world is stopped.
void for_each_thread(void (*visit)(void* with, registered_thread& one), void* with) noexcept;

}}}  // namespace hocket::gc::detail
