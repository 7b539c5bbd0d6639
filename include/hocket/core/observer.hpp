// Observers: the seam for consoles, deadlock reports, simulators and debuggers.
//
//   class counter final : public observer {
//     void on_create(coroutine_id who, const coroutine_info& facts) noexcept override { ... }
//     void on_destroy(coroutine_id who) noexcept override { ... }
//   };
//   install_observer(one);
//   ...
//   remove_observer(one);    // from here on nobody calls it
//
// The life of a spawned coroutine, as it is told:
//
//   created -> resumed -> ( suspended -> woken -> resumed )* -> destroyed
//
//   - on_resume() means that the coroutine begins, or goes on after a wait. It is called on the thread that runs the
//     coroutine, right before its code.
//   - A coroutine that is killed or refused before it begins is created and destroyed only.
//   - yield() is no event, nor is a wait for a foreign awaitable. So between two events another coroutine may run on
//   the
//     thread.
//   - A raw coroutine<> is created and destroyed. Its switches are no events.
//   - A coroutine that hocket did not make is neither created nor destroyed, but suspended, woken and resumed, if it
//     waits for a primitive. A plain thread that waits is suspended and woken under the null id.
//   - An observer hears only of events after its installation. So it may hear of the suspension or the destruction of
//     an unknown coroutine.
//   - If a wake runs out of memory, the coroutine's on_resume() is left out.
//
// Costs. While no observer is installed, an event costs one load and a branch, and a resume costs nothing. An observed
// wake posts a small frame, which calls on_resume() and then resumes the coroutine. (A run queue holds handles, and a
// handle does not tell which coroutine it belongs to.)
#pragma once
#include <compare>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include <hocket/base/detail/platform/config.hpp>
#include <hocket/base/detail/platform/owns_nothing.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace primitive {
class wait_source;
}  // namespace primitive

class context;

// Names a coroutine from on_create() to on_destroy(); a later one may get the same name. For a spawned coroutine it is the
// address that wait_source::holder() gives. Null: a plain thread.
class coroutine_id {
 public:
  constexpr coroutine_id() noexcept = default;
  constexpr explicit coroutine_id(const void* address) noexcept : address_(address) {}
  // To be printed and compared only.
  constexpr const void* address() const noexcept { return address_; }
  constexpr explicit operator bool() const noexcept { return address_ != nullptr; }
  friend constexpr auto operator<=>(coroutine_id, coroutine_id) noexcept = default;

 private:
  const void* address_ = nullptr;
};

// What was created. A raw fiber is a coroutine<>.
enum class observed_kind : std::uint8_t { task, fiber, raw_fiber };

// What is known of a coroutine when it is created. Valid during the callback.
struct coroutine_info {
  observed_kind kind;
  const char* name;                // never null; lives as long as the coroutine
  std::source_location spawned{};  // line 0: not told
  const void* caller = nullptr;    // an address in the code that called spawn; null: not told
  const context& ctx;              // its own; a raw fiber's creator's
};
static_assert(detail::owns_nothing<coroutine_info>);

// What a coroutine waits for. Valid during the callback.
struct wait_info {
  const primitive::wait_source* source;  // <hocket/primitive.hpp> tells what it is; null: a time alone
  std::source_location location;         // where the wait was asked for; line 0: not told
};
static_assert(detail::owns_nothing<wait_info>);

// Callbacks are called on the thread where the event happens, possibly on several threads at once and inside of each
// other. A callback must neither throw nor suspend, nor use the primitive that it is told of, because that may be
// locked. It may install and remove observers.
class observer {
 public:
  virtual void on_create(coroutine_id, const coroutine_info&) noexcept {}
  // If a resource or a stop arrives while the coroutine is being suspended, on_suspend(), on_wake() and on_resume() may be
  // called although it never left its thread.
  virtual void on_suspend(coroutine_id, const wait_info&) noexcept {}
  virtual void on_wake(coroutine_id) noexcept {}
  virtual void on_resume(coroutine_id) noexcept {}
  virtual void on_destroy(coroutine_id) noexcept {}

 protected:
  ~observer() = default;
};

// Any thread, at any time, beside any number of others. Observers are told in no particular order. If the same one is
// installed twice, that is fatal. Throws std::bad_alloc.
void install_observer(observer& watcher);

// Any thread, at any time. Waits for the callbacks of `watcher` that run on other threads. When it has returned, none
// runs and none begins, so the observer may be destroyed. The exception: if a callback of the observer itself removes
// it, that callback is still running. Hold no lock that a callback takes. If the observer is not installed, that is
// fatal.
void remove_observer(observer& watcher) noexcept;

}}  // namespace hocket

template <>
struct std::hash<hocket::coroutine_id> {
  std::size_t operator()(hocket::coroutine_id id) const noexcept { return reinterpret_cast<std::size_t>(id.address()); }
};
