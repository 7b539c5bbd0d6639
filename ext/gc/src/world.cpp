#include <hocket/base/seam/asleep.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/never_destroyed.hpp>
#include <hocket/base/seam/signal_fence.hpp>
#include <hocket/fiber/seam/running_stack.hpp>
#include <hocket/gc/world.hpp>

#include "kept_in_child.hpp"
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
  std::vector<stopped_thread> stopped;  // room for all of them
  // The thread that stops it now: its thread_state.
  primitive::atomic<const void*> stopper{nullptr};
};

world& the_world() noexcept {
  static hocket::detail::never_destroyed<world> one;
  return *one;
}

constinit thread_local registered_thread* own = nullptr;

void sleep_outside(void (*sleep)(void* with), void* with) noexcept { leave_for(sleep, with); }

// --- fork: by a thread that has stopped the world, or while nobody has

bool is_stopper() noexcept {
  // ORDER: relaxed, pairs with nothing: a thread looks for its own mark.
  return the_world().stopper.load(std::memory_order_relaxed) == &hocket::detail::this_thread();
}

void before_fork() noexcept {
  if (!is_stopper()) the_world().mutex.lock();
}
void after_fork() noexcept {
  if (!is_stopper()) the_world().mutex.unlock();
}
// The child has only the thread that forked. Nobody waits for the mutex there.
void in_child() noexcept {
  world& all = the_world();
  keep_alone(all.threads, own);
  if (!is_stopper()) ::new (static_cast<void*>(&all.mutex)) primitive::thread_mutex;
}

void watch_sleep() {
  static const int error = ::pthread_atfork(before_fork, after_fork, in_child);
  if (error != 0) throw std::system_error(error, std::system_category(), "hocket: pthread_atfork");
  // ORDER: release, pairs with the load in asleep().
  hocket::detail::wraps_sleep.store(sleep_outside, std::memory_order_release);
}

// Its caller's callee-saved registers are on the stack above.
[[gnu::noinline]] void run_outside(registered_thread& self, void (*run)(void* with), void* with) {
  self.told.stack_pointer = __builtin_frame_address(0);
  struct absence {
    registered_thread& of;
    explicit absence(registered_thread& one) noexcept : of(one) {
      of.away = true;
      world_halt.leave(of.mark);
    }
    ~absence() {
      world_halt.come_back(of.mark);
      of.away = false;
    }
  } outside(self);
  run(with);
}

// The fence keeps the frame until the call has returned.
[[gnu::noinline]] void with_registers_on_stack(registered_thread& self, void (*run)(void* with), void* with) {
  __builtin_unwind_init();
  run_outside(self, run, with);
  hocket::detail::signal_fence();
}

class standing_world {
 public:
  standing_world(world& all, registered_thread* self) noexcept : all_(all), self_(self) {
    // ORDER: relaxed, pairs with nothing: see is_stopper().
    all_.stopper.store(&hocket::detail::this_thread(), std::memory_order_relaxed);
    if (self_) self_->away = true;
    world_halt.begin();
    all_.stopped.clear();
    for (registered_thread& one : all_.threads) {
      if (&one != self_) halt::await(one.mark);
      all_.stopped.push_back(one.told);  // there is room
    }
  }
  standing_world(const standing_world&) = delete;
  standing_world& operator=(const standing_world&) = delete;
  ~standing_world() {
    // ORDER: relaxed, pairs with nothing: see is_stopper().
    all_.stopper.store(nullptr, std::memory_order_relaxed);
    world_halt.end();
    if (self_) self_->away = false;
  }

 private:
  world& all_;
  registered_thread* const self_;
};

[[gnu::noinline]] void stop_from_here(void (*run)(void*, std::span<const stopped_thread>), void* with) {
  world& all = the_world();
  registered_thread* const self = own_thread();
  if (self) self->told.stack_pointer = __builtin_frame_address(0);
  const primitive::locked guard(all.mutex);  // who waits for it counts as stopped
  const standing_world standing(all, self);
  run(with, all.stopped);
}

}  // namespace

[[gnu::noinline]] registered_thread* own_thread() noexcept { return own; }

primitive::thread_mutex& world_mutex() noexcept { return the_world().mutex; }

void expect_stopped_world(const char* message) noexcept {
  expects(is_stopper(), message, "call it in the function that stop_world() calls: registered threads run elsewhere",
          current_context().name());
}

void for_each_thread(void (*visit)(void* with, registered_thread& one), void* with) noexcept {
  for (registered_thread& one : the_world().threads) visit(with, one);
}

void halt_here() noexcept {
  leave_for([](void*) {}, nullptr);
}

void leave_for(void (*run)(void* with), void* with) {
  registered_thread* const self = own_thread();
  if (self && !self->away) with_registers_on_stack(*self, run, with);
  else run(with);
}

[[gnu::noinline]] void stop_world(void (*run)(void* with, std::span<const stopped_thread> threads), void* with) {
  const registered_thread* const self = own_thread();
  expects(!is_stopper(), "stop_world was called while the caller has it stopped",
          "it is stopped: look at the threads that the outer call was given");
  expects(!self || !self->away, "stop_world was called in gc::native()",
          "a thread counts as stopped there: return from it first");
  __builtin_unwind_init();
  stop_from_here(run, with);
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
  auto made = std::make_unique<registered_thread>();
  const native_bounds bounds = bounds_of_this_thread();
  made->told.fibers = this_thread_fibers();
  made->told.stack_low = bounds.low;
  made->told.stack_base = bounds.base;
  watch_sleep();
  world& all = the_world();
  const primitive::locked guard(all.mutex);
  std::size_t count = 1;
  for ([[maybe_unused]] const registered_thread& one : all.threads) ++count;
  all.stopped.reserve(count);
  all.threads.push_back(*made);
  own = made.release();
}

void leave_thread() noexcept {
  using namespace detail;
  registered_thread* const self = own_thread();
  expects(self != nullptr, "a thread left gc that is not registered", "leave_thread() belongs to enter_thread()");
  expects(!self->plain && self->roots.empty(), "a thread left gc with slots or roots",
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
