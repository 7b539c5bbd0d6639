// Observers: callbacks for consoles, deadlock reports, simulators and debuggers.
//
//   class counter final : public observer {
//     void on_create(coroutine_id id, const coroutine_info& info) noexcept override { ... }
//     void on_destroy(coroutine_id id) noexcept override { ... }
//   };
//   install_observer(my_counter);
//   ...
//   remove_observer(my_counter);    // after this no thread calls it
//
// The events of a spawned coroutine:
//
//   created -> resumed -> ( suspended -> woken -> resumed )* -> destroyed
//
//   - on_resume() means that the coroutine begins, or continues after a wait. It is called on the thread that runs the
//     coroutine, right before its code.
//   - A coroutine that is killed or refused before it begins is only created and destroyed.
//   - yield() is no event, nor is a wait for a foreign awaitable. So between two events another coroutine may run on
//     the thread.
//   - A raw coroutine<> is created and destroyed. Its switches are no events.
//   - A coroutine that hocket did not make is neither created nor destroyed, but it is suspended, woken and resumed if
//     it waits for a primitive. A plain thread that waits is suspended and woken under the null id.
//   - An observer receives only events after its installation. So its first event of a coroutine may be a suspension or
//     the destruction.
//   - If a wake runs out of memory, the coroutine's on_resume() is omitted.
//
// Cost. While no observer is installed, an event costs one load and a branch, and a resume costs nothing. An observed
// wake posts a small frame, which calls on_resume() and then resumes the coroutine. (A run queue holds handles, and a
// handle does not identify its coroutine.)
#pragma once
#include <compare>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include <hocket/base/seam/platform/config.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace primitive {
class wait_source;
}  // namespace primitive

class context;

// The identity of a coroutine from on_create() to on_destroy(). A later coroutine may get the same id. For a spawned
// coroutine it is the address that wait_source::holder() returns. Null: a plain thread.
class coroutine_id {
 public:
  constexpr coroutine_id() noexcept = default;
  constexpr explicit coroutine_id(const void* address) noexcept : address_(address) {}
  // For printing and comparisons only.
  constexpr const void* address() const noexcept { return address_; }
  constexpr explicit operator bool() const noexcept { return address_ != nullptr; }
  friend constexpr auto operator<=>(coroutine_id, coroutine_id) noexcept = default;

 private:
  const void* address_ = nullptr;
};

// The kind of a created coroutine. A raw fiber is a coroutine<>.
enum class observed_kind : std::uint8_t { task, fiber, raw_fiber };

// The description of a coroutine at its creation. Valid during the callback.
struct coroutine_info {
  observed_kind kind;
  const char* name;                // never null; lives as long as the coroutine
  std::source_location spawned{};  // line 0: unknown
  const void* caller = nullptr;    // an address in the code that called spawn; null: unknown
  const context& ctx;              // the coroutine's own; for a raw fiber its creator's
};
static_assert(detail::owns_nothing<coroutine_info>);

// The description of a wait. Valid during the callback.
struct wait_info {
  const primitive::wait_source* source;  // describes itself (<hocket/primitive.hpp>); null: a wait for a time alone
  std::source_location location;         // of the call that made the wait; line 0: unknown
};
static_assert(detail::owns_nothing<wait_info>);

// The callbacks. They are called on the thread of the event, possibly on several threads at once and nested.
//
// A callback must neither throw nor suspend. It must not use the primitive of the event, because that may be locked. It
// may install and remove observers.
class observer {
 public:
  virtual void on_create(coroutine_id, const coroutine_info&) noexcept {}
  // If a resource or a stop arrives while the coroutine is being suspended, on_suspend(), on_wake() and on_resume() may
  // be called although the coroutine never left its thread.
  virtual void on_suspend(coroutine_id, const wait_info&) noexcept {}
  virtual void on_wake(coroutine_id) noexcept {}
  virtual void on_resume(coroutine_id) noexcept {}
  virtual void on_destroy(coroutine_id) noexcept {}

 protected:
  ~observer() = default;
};

// Installs an observer beside any number of others. Observers are called in no particular order. Any thread, at any
// time. Installing an installed observer is fatal. Throws std::bad_alloc.
void install_observer(observer& watcher);

// Removes an observer, and waits for the callbacks of `watcher` that run on other threads. When it returns, no callback
// runs and none begins, so the observer may be destroyed. Exception: if a callback of the observer itself removes it,
// that callback is still running. Any thread, at any time. The caller must hold no lock that a callback takes. Removing
// an observer that is not installed is fatal.
void remove_observer(observer& watcher) noexcept;

}}  // namespace hocket

template <>
struct std::hash<hocket::coroutine_id> {
  std::size_t operator()(hocket::coroutine_id id) const noexcept { return reinterpret_cast<std::size_t>(id.address()); }
};
