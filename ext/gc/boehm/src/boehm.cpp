// A collection by libgc.
//
// Steps
//   1. libgc stops the registered threads by a signal. Our handler replaces libgc's: it records the interrupted state,
//      and calls libgc's handler, which waits until the collection has ended.
//   2. push(), under libgc's lock on the collecting thread: reports to libgc for each thread the end of the stack that
//      has its stack pointer, a fiber's or the thread's own; and pushes all suspended frames.
//   3. libgc scans the stacks that the threads run on, their registers and the static data.
//   4. The threads continue.
//
// The stack pointer of a stopped thread
//   on its own stack      this stack is scanned from the stack pointer, and the suspended fibers beside it
//   on a fiber's stack    the same; the thread's own stack is scanned from where it resumed the fiber
//   on its signal stack   a handler with SA_ONSTACK runs (a profiler's, a crash handler's). Only the kernel's frame on
//                         the signal stack has the interrupted state. So the signal stack is scanned from the stack
//                         pointer up, with the interrupted registers in that frame; and all of the fiber's stack, of
//                         the stacks that it called, and of the thread's own.
//
// Hazard: if a register of the handler refers to the middle of a fiber's stack, then for_each_stack() takes it for the
// depth of that stack, and omits the frames below. Prevented: it receives no registers of this thread.
// Hazard: if the signal stack is an array in a frame of the thread's own stack, or of a fiber's, then the stack pointer
// may be taken for the depth of that stack, and the frames below the array are omitted. Prevented: the signal stack is
// tested first, and for_each_stack() receives no stack pointer of this thread.
//
// The list of threads changes under libgc's lock, so no collection reads it half changed.
#include <gc/gc.h>
#include <gc/gc_mark.h>

#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/never_destroyed.hpp>
#include <hocket/gc/boehm.hpp>
#include <hocket/gc/native_stack.hpp>

#include "list_in_child.hpp"
#include "memory.hpp"
#include "native_bounds.hpp"
#include "root_memory.hpp"
#include "threads.hpp"

#include <csignal>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <string>
#include <system_error>
#include <vector>

// libgc calls it from GC_MALLOC; see gc/boehm.hpp.
extern "C" void* GC_clear_stack(void* result) { return result; }

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

namespace {

using hocket::detail::expects;
using hocket::detail::fatal;
using hocket::detail::list;

struct collector {
  bool started = false;
  struct sigaction libgc_action{};  // libgc's handler
  GC_push_other_roots_proc previous_push = nullptr;
  list<collected_thread> threads;
  std::vector<stopped_thread> stopped;  // its capacity is at least `expected`
  std::mutex registration;
  std::size_t expected = 0;  // registered threads, and threads in enter_thread(); guarded by `registration`
  counts totals;
};

collector& the_collector() noexcept {
  static hocket::detail::never_destroyed<collector> instance;
  return *instance;
}

constinit thread_local collected_thread* own = nullptr;

[[gnu::noinline]] collected_thread* own_thread() noexcept { return own; }

// Under libgc's lock.
template <class F>
void locked_by_libgc(F&& f) noexcept {
  GC_call_with_alloc_lock(
      [](void* closure) -> void* {
        (*static_cast<F*>(closure))();
        return nullptr;
      },
      std::addressof(f));
}

// --- a collection

void on_stop_signal(int number, siginfo_t* info, void* context) noexcept {
  collected_thread* const self = own;
  if (self) {
    const ucontext_t& interrupted = *static_cast<const ucontext_t*>(context);
    record_interrupted_state(*self, interrupted);
    self->signal_stack = interrupted.uc_stack;
    self->is_stopped = true;
  }
  the_collector().libgc_action.sa_sigaction(number, info, context);
  if (self) self->is_stopped = false;
}

bool is_on_native_stack(const collected_thread& thread, const void* place) noexcept {
  return place >= thread.state.stack_low && place < thread.state.stack_base;
}

// The end of the thread's signal stack, if the place is on it; else null.
const void* signal_stack_limit(const collected_thread& thread, const void* place) noexcept {
  const stack_t& stack = thread.signal_stack;
  const auto* const low = static_cast<const std::byte*>(stack.ss_sp);
  if (!thread.is_stopped || !low || (stack.ss_flags & SS_DISABLE) != 0) return nullptr;
  return place >= low && place < low + stack.ss_size ? low + stack.ss_size : nullptr;
}

// The end of the stack that has the thread's stack pointer.
const void* limit_of(collected_thread& thread) noexcept {
  stopped_thread& stopped = thread.state;
  const void* const place = stopped.stack_pointer;
  if (!place) return stopped.stack_base;
  if (const void* const limit = signal_stack_limit(thread, place)) {
    stopped.stack_pointer = nullptr;
    stopped.registers = {};
    return limit;
  }
  if (is_on_native_stack(thread, place)) return stopped.stack_base;
  const void* const limit = stack_limit(place);
  if (!limit)
    fatal("a collection meets a thread on a stack that is no fiber's, not its own and not its signal stack",
          "call_on_stack with a stack of a stack_pool, and sigaltstack without SS_AUTODISARM, in programs with "
          "gc::boehm");
  return limit;
}

// If libgc does not stop a thread (it is in GC_do_blocking, on its own stack), its stack pointer is unknown, and all of
// its stack is scanned.
void report_stack(collected_thread& thread, const void* frame) noexcept {
  if (&thread == own_thread()) {
    thread.state.stack_pointer = frame;
    thread.state.registers = {};
  } else if (!thread.is_stopped) {
    thread.state.stack_pointer = nullptr;
    thread.state.registers = {};
  }
  GC_stack_base bottom{};
  bottom.mem_base = const_cast<void*>(limit_of(thread));
  GC_set_stackbottom(thread.handle, &bottom);
}

void push() noexcept {
  collector& all = the_collector();
  if (GC_is_incremental_mode())
    fatal("libgc was switched to its incremental mode", "leave GC_enable_incremental() out: fibers run beside it");
  // GC_register_my_thread() collects if there is no memory for its record of the thread. So a thread without fibers
  // need not be registered here.
  if (!own_thread() && stack_limit(__builtin_frame_address(0)))
    fatal("a thread that is not registered with gc::boehm collects on a stack of fibers",
          "make a gc::boehm::thread_scope in it");
  all.stopped.clear();
  for (collected_thread& thread : all.threads) {
    report_stack(thread, __builtin_frame_address(0));
    all.stopped.push_back(thread.state);  // within its capacity
  }
  all.totals.ranges = all.totals.words = 0;
  all.totals.unknown += for_each_stack(all.stopped, [&](const stack_range& range) {
    ++all.totals.ranges;
    all.totals.words += static_cast<std::size_t>(range.high - range.low) / sizeof(void*);
    GC_push_all_eager(const_cast<std::byte*>(range.low), const_cast<std::byte*>(range.high));
  });
  root_memory::of_process().for_each_run([](std::byte* low, std::byte* high) { GC_push_all_eager(low, high); });
  if (all.previous_push) all.previous_push();
}

void install_handlers(collector& all) {
  all.previous_push = GC_get_push_other_roots();
  GC_set_push_other_roots(push);
  const int number = GC_get_suspend_signal();
  ::sigaction(number, nullptr, &all.libgc_action);
  struct sigaction ours = all.libgc_action;
  ours.sa_sigaction = on_stop_signal;
  ours.sa_flags |= SA_SIGINFO;
  ::sigaction(number, &ours, nullptr);
}

// --- start

[[noreturn]] void refuse(const std::string& reason) {
  throw std::system_error(std::make_error_code(std::errc::not_supported), "hocket: gc::boehm: " + reason);
}

void expect_tested_library() {
  const unsigned version = GC_get_version(), major = version >> 16, minor = version >> 8 & 0xff;
  if (major == 8 && minor == 2) return;
  refuse("it is tested with libgc 8.2, and this is " + std::to_string(major) + "." + std::to_string(minor) +
         ": run its tests (ext_gc_boehm) with this version, and add it in ext/gc/boehm/src/boehm.cpp");
}

void before_fork() noexcept { root_memory::of_process().before_fork(); }
void after_fork() noexcept { root_memory::of_process().after_fork(); }

// Both functions must replace a library's definition.
void expect_own_definitions() {
  for (const char* const name : {"GC_clear_stack", "__cxa_allocate_exception"}) {
    const void* const ours = name[0] == 'G' ? reinterpret_cast<const void*>(&GC_clear_stack) : allocate_exception();
    if (::dlsym(RTLD_DEFAULT, name) != ours)
      refuse(std::string(name) +
             " is another library's: link hocket_gc_boehm into the program itself, and libgc and "
             "libstdc++ as shared libraries");
  }
}

// The child has the thread that forked.
void after_fork_in_child() noexcept {
  after_fork();
  detail::retain_only(the_collector().threads, own);
}

void expect_stacks() {
  if (!can_enumerate_stacks())
    refuse(
        "the stacks of fibers cannot be found in this build: not with AddressSanitizer, nor with the fallbacks "
        "`ucontext` and `thread`");
}

void connect(collector& all) {
  GC_set_handle_fork(1);
  GC_set_finalize_on_demand(1);
  GC_init();
  if (GC_is_incremental_mode()) refuse("libgc is in its incremental mode: unset GC_ENABLE_INCREMENTAL");
  GC_allow_register_threads();
  if (const int error = ::pthread_atfork(before_fork, after_fork, after_fork_in_child))
    throw std::system_error(error, std::system_category(), "hocket: pthread_atfork");
  install_handlers(all);
  all.started = true;
}

}  // namespace

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    expect_stacks();
    expect_tested_library();
    expect_own_definitions();
    install_memory_source();
    connect(the_collector());
    enter_thread();
  });
}

// --- threads

bool is_registered() noexcept { return own_thread() != nullptr; }

namespace {

// Reserves memory for one more thread. Several threads may register at once, so `expected` counts them.
void reserve_entry(collector& all) {
  const std::lock_guard guard(all.registration);
  ++all.expected;
  if (all.expected <= all.stopped.capacity()) return;
  std::vector<stopped_thread> larger;
  larger.reserve(2 * all.expected);
  locked_by_libgc([&] { all.stopped.swap(larger); });
}

}  // namespace

void enter_thread() {
  collector& all = the_collector();
  expects(all.started, "a thread was registered with gc::boehm before start()",
          "call gc::boehm::start() in main first");
  expects(!own_thread(), "a thread was registered with gc::boehm twice",
          "one thread_scope, or one on_start hook, for a thread; start() registers its caller");
  GC_stack_base base{};
  if (GC_get_stack_base(&base) != GC_SUCCESS) refuse("libgc does not find the stack of a thread");
  auto thread = std::make_unique<collected_thread>();
  thread->state.fibers = this_thread_fibers();
  thread->state.stack_low = detail::bounds_of_this_thread().low;
  thread->state.stack_base = base.mem_base;
  reserve_entry(all);
  thread->is_ours = GC_register_my_thread(&base) == GC_SUCCESS;  // not main, nor a thread of libgc
  thread->handle = GC_get_my_stackbottom(&base);
  locked_by_libgc([&] {
    all.threads.push_back(*thread);
    own = thread.release();
  });
}

void leave_thread() noexcept {
  collected_thread* const self = own_thread();
  expects(self != nullptr, "a thread left gc::boehm that is not registered",
          "leave_thread() belongs to enter_thread()");
  GC_stack_base bottom{};
  bottom.mem_base = const_cast<void*>(self->state.stack_base);
  locked_by_libgc([&] {
    GC_set_stackbottom(self->handle, &bottom);
    list<collected_thread>::erase(*self);
    own = nullptr;
  });
  {
    const std::lock_guard guard(the_collector().registration);
    --the_collector().expected;
  }
  if (self->is_ours) GC_unregister_my_thread();
  delete self;
}

void on_start(std::size_t) { enter_thread(); }
void on_stop(std::size_t) { leave_thread(); }

// --- finalizers

std::size_t run_finalizers() {
  if (!GC_should_invoke_finalizers()) return 0;
  return on_native_stack([] { return static_cast<std::size_t>(GC_invoke_finalizers()); });
}

counts statistics() noexcept { return the_collector().totals; }

}}}  // namespace hocket::gc::boehm
