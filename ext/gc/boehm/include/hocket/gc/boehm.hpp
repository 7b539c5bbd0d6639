// The collector of Boehm, Demers and Weiser (libgc 8.2) with hocket: what a suspended coroutine holds survives.
//
//   int main() {
//     gc::boehm::start();                                    // before anything of hocket's is made
//     runtime rt({.on_start = gc::boehm::on_start, .on_stop = gc::boehm::on_stop});
//     spawn(rt, [] {
//       auto* list = static_cast<node*>(GC_MALLOC(sizeof(node)));
//       await(event.wait());                                 // other threads collect meanwhile
//       use(list);
//     });
//   }
//
// libgc stops the threads by a signal, at any instruction. Then for_each_stack (fiber/enumeration.hpp) tells the frames
// of all suspended fibers, and libgc looks through them as through the stacks of threads. It costs nothing until then.
//
// What is found: words in frames of fibers, raw coroutines and tasks; in arguments and results of coroutines, begun or
// not; in items of channels; in exceptions that are handled or kept. hocket's memory for these comes from here
// (base/memory_source.hpp). What the program's own containers allocate is found if their memory is from libgc.
//
// Threads. Each thread that runs coroutines or allocates is registered: a worker and a thread of a blocking_pool by the
// hooks on_start and on_stop, others by thread_scope. start() registers its caller. An unregistered thread that
// collects is fatal, and one that makes a coroutine, too.
//
// Stacks. libgc's signal handler runs on the stack of the fiber that it interrupts. It takes the system's signal frame
// (getauxval(AT_MINSIGSTKSZ): 1 to 3 KB, more where registers are wider) and 1 KB. So 8 KiB are enough for a fiber that
// needs 3 KB, and 16 KiB where that number is above 3 KB. GC_MALLOC calls GC_clear_stack now and then, which zeroes up
// to 16 KB below the caller. On a small stack that would overwrite the neighbour. So this library replaces
// GC_clear_stack by a function that does nothing. call_on_stack takes stacks of a stack_pool only.
//
// Not with libgc: GC_enable_incremental(), which collects while fibers run; GC_do_blocking() in a fiber. libgc and
// libstdc++ are shared libraries, and hocket_gc_boehm is linked into the program.
//
// Finalizers run where run_finalizers() is called, on that thread's own stack, and nowhere else.
//
// fork(): libgc and hocket go on in the child, with the thread that forked.
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

// Initialises libgc if nobody has, and connects the two. Once: again does nothing. From any thread, or a static
// constructor, before hocket has allocated anything. Throws std::system_error (not_supported) for another libgc than
// those it is tested with, and in builds that cannot work: the fallbacks `thread` and `ucontext`, AddressSanitizer;
// std::logic_error if hocket has memory already.
void start();

// Registers the calling thread, and ends that. Fatal before start(). enter_thread() throws std::bad_alloc, and
// std::system_error if the system does not tell where the stack is. Once for a thread: again is fatal.
void enter_thread();
void leave_thread() noexcept;

class thread_scope {
 public:
  thread_scope() { enter_thread(); }
  thread_scope(const thread_scope&) = delete;
  thread_scope& operator=(const thread_scope&) = delete;
  ~thread_scope() { leave_thread(); }
};

// For runtime_options and blocking_pool_options.
void on_start(std::size_t worker);
void on_stop(std::size_t worker);

// Runs what is to be finalized, on the thread's own stack (native_stack.hpp). Gives how many ran. A finalizer must not
// wait.
std::size_t run_finalizers();

// Of the last collection, and since start().
struct counts {
  std::size_t ranges = 0;   // of suspended coroutines that were looked through
  std::size_t words = 0;    // in them
  std::size_t unknown = 0;  // since start(): stacks whose depth was unknown, and that were looked through whole
};
// While no collection is under way.
counts statistics() noexcept;

}}}  // namespace hocket::gc::boehm
