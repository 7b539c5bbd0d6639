#include <hocket/base/seam/asleep.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/never_destroyed.hpp>
#include <hocket/base/seam/signal_fence.hpp>
#include <hocket/fiber/seam/running_stack.hpp>
#include <hocket/gc/world.hpp>

#include "list_in_child.hpp"
#include "native_bounds.hpp"
#include "registered_thread.hpp"

#include <memory>
#include <new>
#include <pthread.h>
#include <system_error>
#include <utility>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace gc {

namespace detail {

constinit halt world_halt;

namespace {

using hocket::detail::expects;
using hocket::detail::list;

struct world {
  primitive::thread_mutex mutex;  // held while the world is stopped
  list<registered_thread> threads;
  std::vector<stopped_thread> stopped;  // its capacity is at least the number of threads
  // The thread_state of the thread that stops the world now.
  primitive::atomic<const void*> stopper{nullptr};
};

world& the_world() noexcept {
  static hocket::detail::never_destroyed<world> instance;
  return *instance;
}

constinit thread_local registered_thread* own = nullptr;

void sleep_outside(void (*sleep)(void* argument), void* argument) noexcept { leave_for(sleep, argument); }

// --- fork: by the thread that has stopped the world, or while the world runs

bool is_stopper() noexcept {
  // ORDER: relaxed, pairs with nothing: a thread compares with its own address.
  return the_world().stopper.load(std::memory_order_relaxed) == &hocket::detail::this_thread();
}

void before_fork() noexcept {
  if (!is_stopper()) the_world().mutex.lock();
}
void after_fork() noexcept {
  if (!is_stopper()) the_world().mutex.unlock();
}
// The child has only the thread that forked, so no thread waits for the mutex.
void after_fork_in_child() noexcept {
  world& all = the_world();
  retain_only(all.threads, own);
  if (!is_stopper()) ::new (static_cast<void*>(&all.mutex)) primitive::thread_mutex;
}

void install_process_hooks() {
  static const int error = ::pthread_atfork(before_fork, after_fork, after_fork_in_child);
  if (error != 0) throw std::system_error(error, std::system_category(), "hocket: pthread_atfork");
  // ORDER: release, pairs with the load in asleep().
  hocket::detail::wraps_sleep.store(sleep_outside, std::memory_order_release);
}

// Its caller's callee-saved registers are on the stack above.
[[gnu::noinline]] void run_outside(registered_thread& self, void (*run)(void* argument), void* argument) {
  self.state.stack_pointer = __builtin_frame_address(0);
  struct safe_region {
    registered_thread& thread;
    explicit safe_region(registered_thread& caller) noexcept : thread(caller) {
      thread.is_outside = true;
      world_halt.leave(thread.mark);
    }
    ~safe_region() {
      world_halt.reenter(thread.mark);
      thread.is_outside = false;
    }
  } region(self);
  run(argument);
}

// The fence keeps the frame until the call has returned.
[[gnu::noinline]] void with_registers_on_stack(registered_thread& self, void (*run)(void* argument), void* argument) {
  __builtin_unwind_init();
  run_outside(self, run, argument);
  hocket::detail::signal_fence();
}

class stopped_world {
 public:
  stopped_world(world& all, registered_thread* self) noexcept : all_(all), self_(self) {
    // ORDER: relaxed, pairs with nothing: see is_stopper().
    all_.stopper.store(&hocket::detail::this_thread(), std::memory_order_relaxed);
    if (self_) self_->is_outside = true;
    world_halt.begin();
    all_.stopped.clear();
    for (registered_thread& thread : all_.threads) {
      if (&thread != self_) halt::await(thread.mark);
      all_.stopped.push_back(thread.state);  // within its capacity
    }
  }
  stopped_world(const stopped_world&) = delete;
  stopped_world& operator=(const stopped_world&) = delete;
  ~stopped_world() {
    // ORDER: relaxed, pairs with nothing: see is_stopper().
    all_.stopper.store(nullptr, std::memory_order_relaxed);
    world_halt.end();
    if (self_) self_->is_outside = false;
  }

 private:
  world& all_;
  registered_thread* const self_;
};

[[gnu::noinline]] void stop_from_here(void (*run)(void*, std::span<const stopped_thread>), void* argument) {
  world& all = the_world();
  registered_thread* const self = own_thread();
  if (self) self->state.stack_pointer = __builtin_frame_address(0);
  const primitive::locked guard(all.mutex);  // a thread that waits for it counts as stopped
  const stopped_world stop(all, self);
  run(argument, all.stopped);
}

}  // namespace

[[gnu::noinline]] registered_thread* own_thread() noexcept { return own; }

primitive::thread_mutex& world_mutex() noexcept { return the_world().mutex; }

void expect_stopped_world(const char* message) noexcept {
  expects(is_stopper(), message, "call it in the function that stop_world() calls: registered threads run elsewhere",
          current_context().name());
}

void for_each_thread(void (*visit)(void* argument, registered_thread& thread), void* argument) noexcept {
  for (registered_thread& thread : the_world().threads) visit(argument, thread);
}

void halt_here() noexcept {
  leave_for([](void*) {}, nullptr);
}

void leave_for(void (*run)(void* argument), void* argument) {
  registered_thread* const self = own_thread();
  if (self && !self->is_outside) with_registers_on_stack(*self, run, argument);
  else run(argument);
}

[[gnu::noinline]] void stop_world(void (*run)(void* argument, std::span<const stopped_thread> threads),
                                  void* argument) {
  const registered_thread* const self = own_thread();
  expects(!is_stopper(), "stop_world was called while the caller has the world stopped",
          "use the threads that the outer call has passed");
  expects(!self || !self->is_outside, "stop_world was called in gc::native()",
          "a thread counts as stopped there: return from it first");
  __builtin_unwind_init();
  stop_from_here(run, argument);
  hocket::detail::signal_fence();
}

}  // namespace detail

void enter_thread() {
  using namespace detail;
  if (hocket::detail::fibers_are_threads())
    throw std::system_error(std::make_error_code(std::errc::not_supported),
                            "hocket: a thread cannot be registered with gc where fibers are threads "
                            "(HOCKET_BACKEND=thread): use the machine's own switch");
  expects(!own_thread(), "a thread was registered with gc twice", "one thread_scope, or enter_thread(), for a thread");
  auto thread = std::make_unique<registered_thread>();
  const native_bounds bounds = bounds_of_this_thread();
  thread->state.fibers = this_thread_fibers();
  thread->state.stack_low = bounds.low;
  thread->state.stack_base = bounds.base;
  install_process_hooks();
  world& all = the_world();
  const primitive::locked guard(all.mutex);
  std::size_t count = 1;
  for ([[maybe_unused]] const registered_thread& other : all.threads) ++count;
  all.stopped.reserve(count);
  all.threads.push_back(*thread);
  own = thread.release();
}

void leave_thread() noexcept {
  using namespace detail;
  registered_thread* const self = own_thread();
  expects(self != nullptr, "a thread left gc that is not registered", "leave_thread() belongs to enter_thread()");
  expects(!self->plain_slot && self->roots.empty(), "a thread left gc with slots or roots",
          "end their scopes before leave_thread()");
  {
    const primitive::locked guard(the_world().mutex);  // a stop meanwhile counts it as stopped
    list<registered_thread>::erase(*self);
    own = nullptr;
  }
  delete self;
}

void on_start(std::size_t) { enter_thread(); }
void on_stop(std::size_t) { leave_thread(); }

}}}  // namespace hocket::gc
