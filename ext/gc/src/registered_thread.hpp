// A thread that is registered with the world.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/gc/root.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::detail {

struct registered_thread : hocket::detail::list_node {
  halt::mark mark{halt::inside};
  bool is_outside = false;  // it counts as stopped, or it stops the world itself
  stopped_thread state;
  root_list roots;                  // of its plain code while plain_slot is null
  slot_core* plain_slot = nullptr;  // of its plain code
};

// The calling thread. Null: it is not registered.
registered_thread* own_thread() noexcept;
// Guards the lists of threads and slots. Held while the world is stopped.
primitive::thread_mutex& world_mutex() noexcept;
// Fatal unless the caller has stopped the world.
void expect_stopped_world(const char* message) noexcept;
// Called while the world is stopped.
void for_each_thread(void (*visit)(void* argument, registered_thread& thread), void* argument) noexcept;

}}}  // namespace hocket::gc::detail
