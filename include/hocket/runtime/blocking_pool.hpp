// blocking_pool: the threads that run the callables of blocking().
//
//   blocking_pool crypto({.threads = 2, .queue = 100, .name = "crypto"});   // beside the pool of the process
//
// Destruction. The destructor refuses queued calls and new calls (operation_canceled), waits for running calls, and
// ends the threads. It is fatal on one of the pool's own threads.
//
// fork(). In the child a pool has no threads: use is fatal, destruction does nothing. The pool of the process is
// created anew there.
//
// Thread safety. All member functions may be called from any thread.
//
// States of a call. A call is a registration (waiter) of its coroutine's wait.
//
//   queued  --a thread claims it, and keeps the grant--> running --the thread posts the grant--> over
//           --its wait ends otherwise: detach()--> over, never ran
//           --the pool is destroyed--> over: refused
//
// A thread pops the call under the mutex. From then on detach() does not find the call, so a wait that ends keeps the
// call's hold, and the memory of the coroutine stays valid (core/wait/detail/claim.hpp). Then the thread calls
// claim_popped(). If another party has ended the wait, the call does not run. So exactly one of a cancellation and the
// start of the call wins, and the other does nothing.
//
// Lifetime of the queue. The code that ends a wait looks for the call in the queue, perhaps while the destructor
// refuses the call. So the queue is the wait_source, it may outlive the pool, and each wait holds a reference to it.
//
// Idle threads form a stack, and the last thread that fell asleep is woken first. So with few calls the other threads
// reach their idle limit and end. A thread is popped, under the mutex, before it is woken: each call wakes one thread,
// and no wake-up is lost. A thread that ends joins the thread that ended before it; the destructor joins the last one.
// The pool of the process is never destroyed: its threads are not joined.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
struct blocking_job;
class blocking_operation;
}  // namespace detail

// A function that a thread of a pool calls, with the thread's number. The pool numbers its threads from 0, in the order
// of their start, and does not reuse a number. An exception is fatal.
using blocking_hook = void (*)(std::size_t thread);

// Options for blocking_pool.
struct blocking_pool_options {
  std::size_t threads = 64;                  // the maximum of threads; at least 1
  std::size_t queue = 10'000;                // the maximum of queued calls; 0: a call runs at once or is refused
  duration idle = std::chrono::seconds(10);  // a thread that has been idle for so long ends
  literal_name name = "blocking";            // the name of the threads

  // A thread starts when a call needs it. It ends when it has been idle for too long, or when its pool is destroyed.
  blocking_hook on_start = nullptr;  // before the thread's first call: for instance, registers it with a collector
  blocking_hook on_stop = nullptr;   // after the thread's last call. Must not use the pool. The end of the process does
                                     // not end the threads of the process's pool: on_stop is not called then
};
static_assert(detail::owns_nothing<blocking_pool_options>);

// A pool of threads for calls that block.
class blocking_pool final {
 public:
  static constexpr std::size_t max_threads = 4096;

  // Starts no thread. Throws std::system_error with invalid_argument if options.threads is 0 or above max_threads;
  // std::bad_alloc.
  explicit blocking_pool(const blocking_pool_options& options = {});
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;
  ~blocking_pool();

  // The pool of the process. The first call creates it, with default options. It is never destroyed: the end of the
  // process does not wait for its calls. Throws std::bad_alloc.
  static blocking_pool& process_pool();

  // Creates the pool of the process with `options`, before its first use. Throws std::logic_error if the pool exists,
  // and the exceptions of the constructor. A child of fork() has no pool yet: process_pool() creates it there with the
  // options of the parent's pool, this function with `options`.
  static blocking_pool& make_process_pool(const blocking_pool_options& options);

  // Returns the pool of the process; null before its first use.
  static blocking_pool* process_pool_if_any() noexcept;

  // Numbers of threads and calls at one moment.
  struct counts {
    std::size_t threads = 0;    // existing threads
    std::size_t idle = 0;       // idle threads
    std::size_t queued = 0;     // queued calls
    std::uint64_t begun = 0;    // calls started since construction
    std::uint64_t refused = 0;  // calls refused since construction: the queue was full, or there was no thread
  };
  counts statistics() const noexcept;

 private:
  friend class detail::blocking_operation;
  struct thread;
  struct state;

  static blocking_pool* install_for_process(const blocking_pool_options& options, blocking_pool* expected);
  bool is_copy_in_child() const noexcept;
  void expect_threads() const noexcept;
  state* enqueue(primitive::suspension& wait, primitive::waiter& entry, detail::blocking_job& job) noexcept;
  static void release(state* shared) noexcept;
  std::error_code admit_call() noexcept;
  bool wake_thread() noexcept;
  bool start_thread() noexcept;
  void run(thread& self) noexcept;
  bool sleep(thread& self) noexcept;
  void end(thread& self) noexcept;
  void call(blocking_hook hook, std::size_t index) noexcept;

  state* const state_;
};

}}  // namespace hocket
