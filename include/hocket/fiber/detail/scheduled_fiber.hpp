// A scheduled fiber: how a spawned function gets a stack, runs, waits and ends.
//
// States, and who owns the fiber's stack:
//
//   unstarted   it has none. What stands in the run queue is `start_`, a frame of two words; the stack is taken when it
//               runs first, on the thread that it will stay on (so a spawn costs no stack, on any thread)
//   waiting     none yet: the depot has lent all that it may (stack/stack_depot.hpp, at_limit::wait), and start_
//               waits for a stack to come back (src/fiber/stack_wait.hpp)
//   running     the fiber. fiber_thread::running is its control block, fiber_thread::worker the stack to go back to
//   parking     nobody: it has switched to the worker's stack, and the worker runs its request there
//   parked      the executor, or whoever holds its handle; from the moment when the request publishes the handle. One
//               that migrates becomes another thread's here, and here alone (src/fiber/migration.hpp)
//   finished    the worker, which gives the stack back, and then tells the joiner and the target
//
// Parking, as numbered steps (the fiber's side is fiber/await.hpp):
//   1. the fiber's awaiter has said that it is not ready; a park_request, on its stack or with the awaiter, names it;
//   2. it switches to the worker: the registers are saved, its exception globals put away, current state restored;
//   3. the worker calls the request: the awaiter's await_suspend, with the fiber's handle. From here on another thread
//      may wake the fiber, which posts it to its executor: it cannot run before the worker is done with it;
//   4. what await_suspend answered decides: stay parked; go straight back; run another coroutine; or rethrow there.
// Nothing of the fiber is touched after a request that answered "parked".
//
// "Finished" is told in the same way: by the worker, after the fiber's last switch.
#pragma once
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class stack_wait;

// What a fiber that parks asks its worker to do for it. Lies on the fiber's stack, or with the awaiter.
struct park_request {
  using fiber_handle = std::coroutine_handle<coroutine_header>;

  void* awaiter;
  // Gives null: it stays parked. Its own handle: it goes straight on. Another: that runs now.
  std::coroutine_handle<> (*commit)(park_request& self, fiber_handle parked) noexcept;
  std::exception_ptr error{};  // what await_suspend threw
};

// Native mode: the frame that stands in the run queue until the fiber begins.
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

  // What is posted to start it. Throws bad_alloc (in conforming mode it is a frame).
  std::coroutine_handle<> start_handle();

  // On the worker, at the first run: takes a stack.
  enum class preparation : std::uint8_t {
    done,
    ended,  // it was killed, or no stack could be had
    waits   // for a stack (at_limit::wait)
  };
  [[nodiscard]] preparation prepare() noexcept;
  // Where prepare() said so. True: what `start` refers to is resumed when that is over; false: it is over already. Then
  // prepare() is to be called again.
  [[nodiscard]] bool wait_for_stack(std::coroutine_handle<> start) noexcept;
  // On the worker, when it has finished: gives everything back.
  void conclude() noexcept;

  scheduled& activity() const noexcept { return self_; }
  control_block* block() const noexcept { return block_; }

  // While its stack is pinned it is not packed (fiber/detail/packing.hpp).
  static constexpr duration shortest_idle = std::chrono::milliseconds(1);
  void pin() noexcept { ++pins_; }
  void unpin() noexcept { --pins_; }
  bool pinned() const noexcept { return pins_ != 0; }

  // Once it has begun: it goes on at whatever worker resumes it (src/fiber/migration.hpp).
  bool migrates() const noexcept { return migrates_; }
  std::size_t stack_size() const noexcept { return stack_size_; }

  // How long it may be parked before it is packed; and its place among those of its thread that may be.
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
