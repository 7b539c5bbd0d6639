// blocking_pool: the threads on which blocking() runs what blocks.
//
//   blocking_pool crypto({.threads = 2, .queue = 100, .name = "crypto"});   // beside the pool of the process
//
// States of a call, which is a registration (waiter) of the wait of its coroutine:
//
//   in line --taken by a thread: grant::keep()--> running --grant::post()--> over
//           --its wait ends otherwise: detach()--> over, and never ran
//           --the pool is destroyed--> over: refused
//
// A thread takes a call out of the line under the mutex; from then on detach() finds it gone, so an ending wait keeps
// the call's hold, and with it the memory of the coroutine (core/detail/claim.hpp). The thread then asks whether the
// wait is still undecided: claim_popped() decides it. Not: the call does not run. So of a cancellation and the
// beginning of the call exactly one comes first, and the other does nothing.
//
// The line may outlive its pool: whoever ends a wait looks there for its call, also while the pool refuses that. So the
// line is the wait_source, and each wait has a share in it until it is over.
//
// Threads sleep in a stack of their own, the last one that fell asleep on top: it is woken first, so with little to do
// the others reach their time and end. A thread that is woken is out of the stack before, under the mutex: one call,
// one wake, none lost. One that ends joins the one that ended before it; the destructor joins the last.
// Those of the pool of the process, which is never destroyed, are joined by nobody.
//
// Destroying a pool refuses the calls that stand in line (operation_canceled) and those that come, waits for those that
// run, and ends the threads. From one of its own threads that is fatal.
//
// In a child by fork() a pool has no threads: using it is fatal, destroying it does nothing. That of the process is
// made anew there.
//
// Threads: every member function, any thread.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/detail/literal_name.hpp>
#include <hocket/base/detail/mutex.hpp>
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/core/detail/suspension.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
struct blocking_job;
class blocking_operation;
}  // namespace detail

// Called on a thread of a pool, with its number: 0 for the first thread that the pool starts, 1 for the second, and so
// on; no number comes again. What it throws is fatal.
using blocking_hook = void (*)(std::size_t thread);

// What may be said of a pool.
struct blocking_pool_options {
  std::size_t threads = 64;                  // at most; at least 1
  std::size_t queue = 10'000;                // calls that stand in line at most; 0: none but those that run at once
  duration idle = std::chrono::seconds(10);  // a thread that had nothing to do for so long ends
  literal_name name = "blocking";            // of its threads

  // A thread starts when a call needs it, and ends when it was idle for too long or its pool is destroyed.
  blocking_hook on_start = nullptr;  // before the thread runs its first call: to tell a collector of it, say
  blocking_hook on_stop = nullptr;   // after all that it has run. Must not use the pool. The threads of the pool of the
                                     // process do not end with the process: on_stop is not called there
};
static_assert(detail::owns_nothing<blocking_pool_options>);

class blocking_pool final {
 public:
  static constexpr std::size_t max_threads = 4096;

  // Starts no thread. Throws std::system_error: invalid_argument for no thread or more than max_threads; bad_alloc.
  explicit blocking_pool(const blocking_pool_options& options = {});
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;
  ~blocking_pool();

  // That of the process, made with default options when it is first asked for; never destroyed, so what runs on it at
  // the end of the process is not waited for. Throws bad_alloc.
  static blocking_pool& process_pool();

  // Makes the pool of the process with these options, before anybody asks for it. Throws std::logic_error if the pool
  // is there already, and what the constructor throws. A child by fork() has no pool yet: the one that it makes has the
  // options of its parent's, or those of this call.
  static blocking_pool& make_process_pool(const blocking_pool_options& options);

  struct counts {
    std::size_t threads = 0;    // that exist
    std::size_t idle = 0;       // of them
    std::size_t queued = 0;     // calls that stand in line
    std::uint64_t begun = 0;    // calls, since the pool was made
    std::uint64_t refused = 0;  // since then, for want of room in the line or of a thread
  };
  counts statistics() const noexcept;

 private:
  friend class detail::blocking_operation;
  struct thread;
  struct state;

  static blocking_pool* install_for_process(const blocking_pool_options& options, blocking_pool* instead_of);
  bool is_copy_in_child() const noexcept;
  void expect_threads() const noexcept;
  state* enqueue(primitive::suspension& wait, primitive::waiter& entry, detail::blocking_job& job) noexcept;
  static void let_go(state* of) noexcept;
  std::error_code make_room() noexcept;
  bool wake_thread() noexcept;
  bool start_thread() noexcept;
  void run(thread& self) noexcept;
  bool sleep(thread& self) noexcept;
  void end(thread& self) noexcept;
  void call(blocking_hook hook, std::size_t index) noexcept;

  state* const state_;
};

}}  // namespace hocket
