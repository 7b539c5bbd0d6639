// A scheduled fiber: how a spawned function gets a stack, runs, waits and ends.
//
// # States, and the owner of the fiber's stack
//
//   unstarted   it has no stack. The run queue holds `start_`, a frame of two words; the first run takes the stack, on
//               the thread where the fiber stays (so a spawn costs no stack, on any thread)
//   waiting     no stack yet: the depot has reached its limit (stack/stack_depot.hpp, at_limit::wait), and start_ waits
//               for a released stack (src/fiber/stack_wait.hpp)
//   running     the fiber. fiber_thread::running is its control block, fiber_thread::worker the resuming stack
//   parking     none: it has switched to the worker's stack, and the worker runs its request there
//   parked      the executor, or the holder of its handle, from the moment when the request publishes the handle. A
//               fiber that migrates moves to another thread only in this state (src/fiber/migration.hpp)
//   finished    the worker, which returns the stack, and then grants the joiner and leaves the target
//
// # Parking (the fiber's side is fiber/await.hpp)
//
// 1. The fiber's awaiter is not ready. A park_request, on its stack or with the awaiter, names it.
// 2. The fiber switches to the worker: registers are saved, exception globals are put away, the current state is
//    restored.
// 3. The worker calls the request: the awaiter's await_suspend, with the fiber's handle. From now on another thread may
//    wake the fiber, which posts it to its executor; it cannot run before the worker has finished the request.
// 4. The result of await_suspend decides: stay parked, continue at once, run another coroutine, or rethrow in the
//    fiber. After a request that returned "parked" the worker does not touch the fiber.
//
// The end follows the same way: the worker handles it after the fiber's last switch.
#pragma once
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class stack_wait;

// The request of a parking fiber to its worker. It lies on the fiber's stack, or with the awaiter.
struct park_request {
  using fiber_handle = std::coroutine_handle<coroutine_header>;

  void* awaiter;
  // Returns null: the fiber stays parked. Its own handle: it continues at once. Another handle: that coroutine runs
  // now.
  std::coroutine_handle<> (*commit)(park_request& self, fiber_handle parked) noexcept;
  std::exception_ptr error{};  // the exception of await_suspend
};

// Native mode: the frame in the run queue until the fiber begins.
struct start_frame {
  frame_head head;
  class scheduled_fiber* fiber;
};

class scheduled_fiber {
 public:
  scheduled_fiber(const scheduled_fiber&) = delete;
  scheduled_fiber& operator=(const scheduled_fiber&) = delete;

  // Runs the callable on the fiber's stack and stores its result, if it has `begun`; destroys the callable.
  using body_function = void (*)(scheduled_fiber& self, bool begun) noexcept;

  // The handle that starts the fiber. Throws bad_alloc (in conforming mode it is a frame).
  std::coroutine_handle<> start_handle();

  // On the worker, at the first run: takes a stack.
  enum class preparation : std::uint8_t {
    done,
    ended,  // it was killed, or no stack could be had
    waits   // for a stack (at_limit::wait)
  };
  [[nodiscard]] preparation prepare() noexcept;
  // Called after preparation::waits. True: `start` is resumed when the wait is over. False: it is over already. Then
  // call prepare() again.
  [[nodiscard]] bool wait_for_stack(std::coroutine_handle<> start) noexcept;
  // On the worker, after the end of the fiber: releases everything.
  void conclude() noexcept;

  scheduled& activity() const noexcept { return self_; }
  control_block* block() const noexcept { return block_; }

  // A pinned stack is not packed (fiber/detail/packing.hpp).
  static constexpr duration shortest_idle = std::chrono::milliseconds(1);
  void pin() noexcept { ++pins_; }
  void unpin() noexcept { --pins_; }
  bool pinned() const noexcept { return pins_ != 0; }

  // After its begin: whether it continues on any worker that resumes it (src/fiber/migration.hpp).
  bool migrates() const noexcept { return migrates_; }
  std::size_t stack_size() const noexcept { return stack_size_; }

  // The time after which a parked fiber is packed, and its index among the fibers of its thread that may hibernate.
  bool hibernates() const noexcept { return hibernate_after_ != duration::max() && stack_ == stack_kind::own; }
  duration hibernate_after() const noexcept { return hibernate_after_; }
  std::uint32_t idle_index = 0;

  // The scheduled fiber of a control block that has fiber_flag::scheduled.
  static scheduled_fiber& from_block(control_block& block) noexcept {
    return *static_cast<scheduled_fiber*>(fiber_record::from_block(block).user_data);
  }

 protected:
  scheduled_fiber(scheduled& self, const spawn_options& options, body_function body) noexcept
      : self_(self),
        stack_size_(options.stack_size),
        hibernate_after_(options.hibernate_after > shortest_idle ? options.hibernate_after : shortest_idle),
        body_(body),
        stack_(options.stack),
        own_floating_point_(options.own_floating_point) {
    if (options.migratable) [[unlikely]]
      make_migratable(options);
  }
  ~scheduled_fiber() = default;

 private:
  static void entry(void* argument, void* from, void* transfer) noexcept;
  void make_migratable(const spawn_options& options) noexcept;

  fiber_record* take_stack(fiber_thread& thread);
  void begin_on(fiber_record& record, fiber_thread& thread);

  start_frame start_{};
  scheduled& self_;
  const std::size_t stack_size_;
  const duration hibernate_after_;
  std::uint32_t pins_ = 0;
  const body_function body_;
  control_block* block_ = nullptr;
  stack_wait* waiting_ = nullptr;  // owned, from the first prepare() to the last
  const stack_kind stack_;
  const bool own_floating_point_;
  bool migrates_ = false;
};

}}}  // namespace hocket::detail
