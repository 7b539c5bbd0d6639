// A collection, as libgc makes it:
//
//   1. libgc stops the registered threads by a signal. Our handler stands in front of its own: it notes what was
//      interrupted, and calls libgc's, which waits in there until the world goes on.
//   2. push(), by libgc's lock on the thread that collects: tells libgc for each thread up to where the stack goes that
//      its stack pointer is on, a fiber's or the thread's own; and pushes all that is suspended.
//   3. libgc's own step, which looks through the stacks that the threads are on, their registers and the static data.
//   4. The threads go on.
//
// Three kinds of stacks may have the stack pointer of a stopped thread:
//   its own               scanned from there, and the suspended fibers beside it
//   a fiber's             the same; its own stack is scanned from where it resumed the fiber
//   its signal stack      a handler with SA_ONSTACK runs (a profiler's, a crash handler's). Where it interrupted the
//                         thread is known to the kernel's frame on the signal stack alone. So the signal stack is
//                         scanned from the stack pointer up, with the interrupted registers in that frame; and all of
//                         the fiber's stack, of the stacks that it called, and of the thread's own.
// Hazard: a register of the handler may refer to the middle of a fiber's stack. for_each_stack() would take it for the
// depth of that stack, and leave out what lies below. Prevented: it is given no registers of this thread.
// Hazard: a signal stack may be an array in a frame of the thread's own stack, or of a fiber's. If the stack pointer
// were taken for the depth of that stack, then the frames below the array would be left out. Prevented: the signal
// stack is tested first, and for_each_stack() is given no stack pointer of this thread.
//
// The list of threads changes under libgc's lock, so no collection meets it half changed.
#include <gc/gc.h>
#include <gc/gc_mark.h>

#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/never_destroyed.hpp>
#include <hocket/gc/boehm.hpp>
#include <hocket/gc/native_stack.hpp>

#include "kept_in_child.hpp"
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
  struct sigaction stops{};  // libgc's handler
  GC_push_other_roots_proc push_of_others = nullptr;
  list<collected_thread> threads;
  std::vector<stopped_thread> stopped;  // room for all of them
  std::mutex coming;
  std::size_t expected = 0;  // threads that are there, or about to: under `coming`
  counts seen;
};

collector& the_collector() noexcept {
  static hocket::detail::never_destroyed<collector> one;
  return *one;
}

constinit thread_local collected_thread* own = nullptr;

[[gnu::noinline]] collected_thread* own_thread() noexcept { return own; }

// Under libgc's lock.
template <class F>
void locked_by_libgc(F&& f) noexcept {
  GC_call_with_alloc_lock([](void* given) -> void* { return (*static_cast<F*>(given))(), nullptr; }, std::addressof(f));
}

// --- a collection

void on_stop_signal(int number, siginfo_t* info, void* context) noexcept {
  collected_thread* const self = own;
  if (self) {
    const ucontext_t& interrupted = *static_cast<const ucontext_t*>(context);
    note_interrupted(*self, interrupted);
    self->signal_stack = interrupted.uc_stack;
    self->is_stopped = true;
  }
  the_collector().stops.sa_sigaction(number, info, context);
  if (self) self->is_stopped = false;
}

bool is_on_own_stack(const collected_thread& one, const void* place) noexcept {
  return place >= one.told.stack_low && place < one.told.stack_base;
}

// The end of the thread's signal stack, if the place is on it; else null.
const void* signal_stack_limit(const collected_thread& thread, const void* place) noexcept {
  const stack_t& stack = thread.signal_stack;
  const auto* const low = static_cast<const std::byte*>(stack.ss_sp);
  if (!thread.is_stopped || !low || (stack.ss_flags & SS_DISABLE) != 0) return nullptr;
  return place >= low && place < low + stack.ss_size ? low + stack.ss_size : nullptr;
}

// Up to where the stack goes that the thread's stack pointer is on.
const void* limit_of(collected_thread& thread) noexcept {
  stopped_thread& stopped = thread.told;
  const void* const place = stopped.stack_pointer;
  if (!place) return stopped.stack_base;
  if (const void* const limit = signal_stack_limit(thread, place)) {
    stopped.stack_pointer = nullptr;
    stopped.registers = {};
    return limit;
  }
  if (is_on_own_stack(thread, place)) return stopped.stack_base;
  const void* const limit = stack_limit(place);
  if (!limit)
    fatal("a collection meets a thread on a stack that is no fiber's, not its own and not its signal stack",
          "call_on_stack with a stack of a stack_pool, and sigaltstack without SS_AUTODISARM, in programs with "
          "gc::boehm");
  return limit;
}

// A thread that libgc does not stop (it is in GC_do_blocking, on its own stack) has no stack pointer that we know: all
// of its stack counts.
void note_stack_of(collected_thread& one, const void* here) noexcept {
  if (&one == own_thread()) one.told.stack_pointer = here, one.told.registers = {};
  else if (!one.is_stopped) one.told.stack_pointer = nullptr, one.told.registers = {};
  GC_stack_base bottom{};
  bottom.mem_base = const_cast<void*>(limit_of(one));
  GC_set_stackbottom(one.handle, &bottom);
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
  for (collected_thread& one : all.threads) {
    note_stack_of(one, __builtin_frame_address(0));
    all.stopped.push_back(one.told);  // there is room
  }
  all.seen.ranges = all.seen.words = 0;
  all.seen.unknown += for_each_stack(all.stopped, [&](const stack_range& range) {
    ++all.seen.ranges;
    all.seen.words += static_cast<std::size_t>(range.high - range.low) / sizeof(void*);
    GC_push_all_eager(const_cast<std::byte*>(range.low), const_cast<std::byte*>(range.high));
  });
  root_memory::of_process().for_each_run([](std::byte* low, std::byte* high) { GC_push_all_eager(low, high); });
  if (all.push_of_others) all.push_of_others();
}

void stand_before_libgc(collector& all) {
  all.push_of_others = GC_get_push_other_roots();
  GC_set_push_other_roots(push);
  const int number = GC_get_suspend_signal();
  ::sigaction(number, nullptr, &all.stops);
  struct sigaction ours = all.stops;
  ours.sa_sigaction = on_stop_signal;
  ours.sa_flags |= SA_SIGINFO;
  ::sigaction(number, &ours, nullptr);
}

// --- start

[[noreturn]] void refuse(const std::string& why) {
  throw std::system_error(std::make_error_code(std::errc::not_supported), "hocket: gc::boehm: " + why);
}

void expect_tested_library() {
  const unsigned version = GC_get_version(), major = version >> 16, minor = version >> 8 & 0xff;
  if (major == 8 && minor == 2) return;
  refuse("it is tested with libgc 8.2, and this is " + std::to_string(major) + "." + std::to_string(minor) +
         ": run its tests (ext_gc_boehm) with that one, and add it in ext/gc/boehm/src/boehm.cpp");
}

void before_fork() noexcept { root_memory::of_process().before_fork(); }
void after_fork() noexcept { root_memory::of_process().after_fork(); }

// Both take the place of a library's own definition.
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
void in_child() noexcept {
  after_fork();
  detail::keep_alone(the_collector().threads, own);
}

void expect_stacks() {
  if (!can_enumerate_stacks())
    refuse(
        "the stacks of fibers cannot be told in this build: not with AddressSanitizer, nor with the fallbacks "
        "`ucontext` and `thread`");
}

void connect(collector& all) {
  GC_set_handle_fork(1);
  GC_set_finalize_on_demand(1);
  GC_init();
  if (GC_is_incremental_mode()) refuse("libgc is in its incremental mode: unset GC_ENABLE_INCREMENTAL");
  GC_allow_register_threads();
  if (const int error = ::pthread_atfork(before_fork, after_fork, in_child))
    throw std::system_error(error, std::system_category(), "hocket: pthread_atfork");
  stand_before_libgc(all);
  all.started = true;
}

}  // namespace

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    expect_stacks();
    expect_tested_library();
    expect_own_definitions();
    give_memory_to_libgc();
    connect(the_collector());
    enter_thread();
  });
}

// --- threads

bool is_registered() noexcept { return own_thread() != nullptr; }

namespace {

// For one thread more, of whose coming another one may know nothing yet.
void make_room(collector& all) {
  const std::lock_guard guard(all.coming);
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
  auto made = std::make_unique<collected_thread>();
  made->told.fibers = this_thread_fibers();
  made->told.stack_low = detail::bounds_of_this_thread().low;
  made->told.stack_base = base.mem_base;
  make_room(all);
  made->is_ours = GC_register_my_thread(&base) == GC_SUCCESS;  // main, and what libgc has started, is registered
  made->handle = GC_get_my_stackbottom(&base);
  locked_by_libgc([&] {
    all.threads.push_back(*made);
    own = made.release();
  });
}

void leave_thread() noexcept {
  collected_thread* const self = own_thread();
  expects(self != nullptr, "a thread left gc::boehm that is not registered",
          "leave_thread() belongs to enter_thread()");
  GC_stack_base bottom{};
  bottom.mem_base = const_cast<void*>(self->told.stack_base);
  locked_by_libgc([&] {
    GC_set_stackbottom(self->handle, &bottom);
    list<collected_thread>::erase(*self);
    own = nullptr;
  });
  {
    const std::lock_guard guard(the_collector().coming);
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

counts statistics() noexcept { return the_collector().seen; }

}}}  // namespace hocket::gc::boehm
