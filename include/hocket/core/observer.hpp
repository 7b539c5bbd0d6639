// A run-time observer of coroutines: the seam for consoles, deadlock reports and simulation.
//
// At most one observer is installed in a process. While there is none, an event costs one acquiring load and a branch,
// and the raw switch costs nothing: only creation, scheduled suspension, wake-up and destruction are events.
#pragma once
#include <hocket/base/detail/atomic.hpp>
#include <source_location>

namespace hocket::inline HOCKET_ABI {

namespace detail {
struct coroutine_header;
}  // namespace detail

class context;

// Called on the thread where the event happens, possibly on several threads at once. A callback must neither throw
// nor suspend. `frame` identifies the coroutine from created() to destroyed(): the address of its
// `scheduled` if it was spawned, else the address behind its handle.
class observer {
 public:
  virtual void created(const void* frame, const context& ctx) noexcept = 0;
  // If a resource or a stop arrives while the coroutine is being suspended, suspended() and woken() may still be
  // called.
  virtual void suspended(const void* frame, const void* source) noexcept = 0;  // source: the wait_source, or null
  virtual void woken(const void* frame) noexcept = 0;
  virtual void destroyed(const void* frame) noexcept = 0;

 protected:
  ~observer() = default;
};

// Installs an observer (null removes it) and returns the previous one. The caller keeps it alive until no coroutine
// can be in a callback: after the executors have stopped, or for ever.
observer* install_observer(observer* watcher) noexcept;

namespace detail {

extern atomic<observer*> observer_slot;

// The installed observer or null. For authors of coroutine kinds and executors.
inline observer* installed_observer() noexcept {
  // ORDER: acquire, pairs with the exchange in install_observer(): the observer's own state is visible.
  return observer_slot.load(std::memory_order_acquire);
}

}  // namespace detail

}  // namespace hocket::inline HOCKET_ABI
