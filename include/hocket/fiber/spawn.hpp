// spawn for callables that do not return a task: they run as fibers, on stacks of their own.
//
// Guarantees. A fiber gets its stack at its first run. From then on it stays on that worker's thread, unless it is
// migratable. All functions that it calls, at any depth, may wait: fiber/await.hpp.
//
// Floating point. The environment of <cfenv> (rounding mode, exception flags and mask) belongs to the thread. If a
// fiber changes it and then waits, other coroutines of the thread run with the change. A fiber spawned with
// {.own_floating_point = true} has its own environment, which starts as a copy of its thread's at its first run. Each
// of its waits takes about 100 ns longer; other fibers pay nothing.
//
// Migration. A fiber spawned on a runtime with {.migratable = true} resumes on any free worker, as tasks do, so it does
// not wait for a busy worker after a wake-up. Elsewhere than on a runtime the option changes nothing.
// - Do not keep anything of a thread over a wait: no address of a thread_local (compilers keep the address of errno,
//   too), no thread id, no raw coroutine<>, no stack of a pool of the thread, no unsync primitive that other coroutines
//   of the worker use (docs/traps/thread-local.md).
// - Its exceptions, fiber-locals and own floating point move with it. In call_on_big_stack it stays on its thread.
// - Its stack is of stack_kind::own and does not hibernate. Any other kind, and hibernation, are fatal.
// - Its yield goes through the worker and takes twice as long (22 ns against 11).
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T, class Call>
class spawned_fiber final : public scheduled_result<T>, public scheduled_fiber {
 public:
  template <class... Args>
  explicit spawned_fiber(spawn_target& target, const spawn_options& options, Args&&... args)
      : scheduled_result<T>(target, coroutine_kind::fiber, options, &dispose_spawned<spawned_fiber>),
        scheduled_fiber(static_cast<scheduled&>(*this), options, &run),
        call_(std::forward<Args>(args)...) {}

  void drop_call() noexcept { call_.reset(); }

 private:
  static void run(scheduled_fiber& fiber, bool started) noexcept {
    auto& self = static_cast<spawned_fiber&>(fiber);
    if (started) self.call();
    self.drop_call();
  }
  void call() noexcept {
    auto& self = *this;
    try {
      self.store_result(self.call_);
      self.succeed();
    } catch (...) {
      self.fail();
    }
  }
  Call call_;
};

template <class Call>
struct spawned_as<false, Call> {
  static_assert(!std::is_rvalue_reference_v<typename Call::returned>,
                "hocket: a fiber returns a value, an lvalue reference or void");
  using type = spawned_fiber<typename Call::returned, Call>;
};

}}}  // namespace hocket::detail
