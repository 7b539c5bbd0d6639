// Connects the collector of Boehm, Demers and Weiser (libgc 8.2) with hocket: an object survives while a suspended
// coroutine refers to it.
//
//   int main() {
//     gc::boehm::start();                                    // before any object of hocket is made
//     runtime rt({.on_start = gc::boehm::on_start, .on_stop = gc::boehm::on_stop});
//     spawn(rt, [] {
//       auto* list = static_cast<node*>(GC_MALLOC(sizeof(node)));
//       await(event.wait());                                 // other threads collect meanwhile
//       use(list);
//     });
//   }
//
// libgc stops the threads by a signal, at any instruction. Then for_each_stack (fiber/enumeration.hpp) reports the
// frames of all suspended fibers, and libgc scans them like the stacks of threads. Without a collection it costs
// nothing.
//
// Guarantees. libgc finds words in frames of fibers, raw coroutines and tasks; in arguments and results of coroutines,
// begun or not; in items of channels; in exceptions that are handled or stored. hocket allocates memory for these that
// libgc scans (base/memory_source.hpp). Objects in the program's own containers are found if their memory is from
// libgc.
//
// Threads. Each thread that runs coroutines or allocates is registered: a worker and a thread of a blocking_pool by the
// hooks on_start and on_stop, others by thread_scope. start() registers its caller. It is fatal if an unregistered
// thread collects or makes a coroutine.
//
// Stacks. libgc's signal handler runs on the stack of the interrupted fiber. It takes the system's signal frame
// (getauxval(AT_MINSIGSTKSZ): 1 to 3 KB, more with wider registers) and 1 KB. So 8 KiB are enough for a fiber that
// needs 3 KB, and 16 KiB if the signal frame is above 3 KB. The hazard: GC_MALLOC sometimes calls GC_clear_stack, which
// zeroes up to 16 KB below the caller. On a small stack that would overwrite the neighbour. Prevented by this library,
// which replaces GC_clear_stack by a function that does nothing. call_on_stack takes stacks of a stack_pool only.
//
// Signal handlers. A handler with SA_ONSTACK may run over a fiber during a collection, for example a profiler's or a
// crash handler's. Then the signal stack, all of the fiber's stack and all of the thread's own are scanned;
// statistics() counts them as unknown. The handler must leave libgc's signal frame and 1 KB free on the signal stack,
// and must not allocate. It is fatal if the signal stack was installed with SS_AUTODISARM, because then its place is
// unknown. Do not install an array on a stack with that flag: the collector cannot recognise it, and loses the objects
// that the frames below refer to.
//
// Do not call GC_enable_incremental(), which collects while fibers run. Do not call GC_do_blocking() in a fiber.
// Limits. libgc and libstdc++ must be shared libraries, and hocket_gc_boehm must be linked into the program itself.
//
// Finalizers run where run_finalizers() is called, on that thread's own stack, and nowhere else.
//
// fork(). libgc and hocket work in the child, with the thread that forked.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

// Initialises libgc if necessary, and connects it with hocket. A second call does nothing. Call it from any thread, or
// a static constructor, before hocket has allocated anything.
// Errors. Throws std::system_error (not_supported) for an untested version of libgc, and in unsupported builds: the
// fallbacks `thread` and `ucontext`, AddressSanitizer. Throws std::logic_error if hocket has allocated memory already.
void start();

// enter_thread() registers the calling thread, and leave_thread() unregisters it. Fatal: enter_thread() before start()
// or in a registered thread, leave_thread() in an unregistered thread. enter_thread() throws std::bad_alloc, and
// std::system_error if the system does not report the place of the stack.
void enter_thread();
void leave_thread() noexcept;

// Registers the calling thread for a scope.
class thread_scope {
 public:
  thread_scope() { enter_thread(); }
  thread_scope(const thread_scope&) = delete;
  thread_scope& operator=(const thread_scope&) = delete;
  ~thread_scope() { leave_thread(); }
};

// Hooks for runtime_options and blocking_pool_options that register and unregister their threads.
void on_start(std::size_t worker);
void on_stop(std::size_t worker);

// Runs the pending finalizers on the thread's own stack (native_stack.hpp), and returns their number. A finalizer must
// not wait.
std::size_t run_finalizers();

// Counts of the last collection, and since start().
struct counts {
  std::size_t ranges = 0;   // scanned ranges of suspended coroutines
  std::size_t words = 0;    // words in these ranges
  std::size_t unknown = 0;  // since start(): stacks of unknown depth, which were scanned completely
};
// Call it only while no collection runs.
counts statistics() noexcept;

}}}  // namespace hocket::gc::boehm
