// spawn for callables that return anything but a task: they run as fibers, on stacks of their own.
//
// Floating point: the environment of <cfenv> (rounding mode, exception flags and mask) is the thread's; what a fiber
// sets and leaves so while it waits, others find. Spawned with {.own_floating_point = true} it has its own, which
// begins as its thread's is at its first run: each wait of it takes some 100 ns longer, and nobody else's.
//
// A fiber gets its stack when it runs first, and from then on stays on that worker's thread. What it calls, at any
// depth, may wait: fiber/await.hpp.
//
// Spawned on a runtime with {.migratable = true} it goes on at whatever worker is free, as tasks do: so one that is
// woken need not wait for a worker that is busy. Then nothing that it calls may keep anything of a thread over a wait:
// no address of a thread_local (compilers keep that of errno, too), no id of the thread, no raw coroutine<>, no stack
// of a pool of the thread's, no unsync primitive that others of the worker use (docs/traps/thread-local.md). Its
// exceptions, its fiber-locals and its own floating point move along; in call_on_big_stack it stays where it is. Its stack
// is of the kind stack_kind::own, and does not hibernate: anything else is fatal. Its yield goes through the worker,
// and takes twice as long (22 ns against 11); elsewhere than on a runtime nothing changes.
#pragma once
#include <hocket/core/detail/spawn.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T, class Call>
class spawned_fiber final : public scheduled_result<T>, public scheduled_fiber {
 public:
  template <class... Given>
  explicit spawned_fiber(spawn_target& target, const spawn_options& options, Given&&... given)
      : scheduled_result<T>(target, coroutine_kind::fiber, options, &dispose_spawned<spawned_fiber>),
        scheduled_fiber(static_cast<scheduled&>(*this), options, &run),
        call_(std::forward<Given>(given)...) {}

  void drop_call() noexcept { call_.reset(); }

 private:
  static void run(scheduled_fiber& fiber, bool begun) noexcept {
    auto& self = static_cast<spawned_fiber&>(fiber);
    if (begun) self.call();
    self.drop_call();
  }
  void call() noexcept {
    auto& self = *this;
    try {
      self.keep_result(self.call_);
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
