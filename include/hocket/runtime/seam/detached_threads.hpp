// detached_threads: a few threads for calls that can block for as long as another machine likes.
//
// A call of blocking() refers to the coroutine that waits for it, so the coroutine and the shutdown of its runtime wait
// for the call's end. A name lookup or a request to a database server can block for minutes. Such a call is a job here:
//   - A job owns everything that it uses. Its waiter holds one end of a oneshot, and may leave at any time.
//   - No code waits for the threads: no shutdown, no destructor, no end of the process.
//   - The threads are beside the pool of blocking(), so stuck jobs never delay files or other calls there.
//
// Threads. post() starts a thread for a job if fewer than `threads` run. Otherwise the job is queued, first in, first
// out. A thread that finds no job in the queue ends. No lock is held while the system starts a thread, so a job may be
// queued behind a thread that then does not start. If no other thread runs, then the queued jobs would wait for ever.
// Prevented: post() destroys them.
//
// Signals. The threads block SIGPIPE, because a library may write to a socket that its peer has closed.
//
// Lifetime. The threads use the queue after main(), so the object is never destroyed (base/seam/never_destroyed.hpp).
//
// fork(). A child has none of the threads, and perhaps a locked mutex. The first post() in a child makes a new queue.
// The jobs of the parent stay the parent's: the child never runs or destroys its copies of them.
//
// Thread safety. Any thread.
#pragma once
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/per_process.hpp>
#include <cstddef>
#include <memory>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class detached_threads {
 public:
  struct limits {
    std::size_t threads;  // the maximum of threads; at least 1
    std::size_t queue;    // the maximum of queued jobs; 0: a job runs at once or is refused
    literal_name name;    // the name of the threads
  };

  // Runs on one of the threads, and is destroyed there. A job that post() refuses is destroyed without a run, and so
  // is a job that no thread would take. Then its destructor wakes the waiter.
  class job {
   public:
    job() noexcept = default;
    job(const job&) = delete;
    job& operator=(const job&) = delete;
    virtual ~job() = default;
    virtual void run() noexcept = 0;

   private:
    friend class detached_threads;
    std::unique_ptr<job> next_;
  };

  constexpr explicit detached_threads(const limits& bounds) noexcept : limits_(bounds) {}
  detached_threads(const detached_threads&) = delete;
  detached_threads& operator=(const detached_threads&) = delete;

  // False: all threads are busy and the queue is full, or the system starts no thread, or there is no memory. The job
  // is destroyed. Never blocks, apart from the start of a thread.
  [[nodiscard]] bool post(std::unique_ptr<job> work) noexcept;

  // The number of running threads. A hint.
  std::size_t running() noexcept;

 private:
  struct state;
  static bool start_thread(state& shared, std::unique_ptr<job> work) noexcept;
  static bool abandon_start(state& shared, std::unique_ptr<job>& work) noexcept;
  static bool enqueue(state& shared, std::unique_ptr<job>& work) noexcept;
  static void run(state& shared, std::unique_ptr<job> work) noexcept;
  static std::unique_ptr<job> take(state& shared) noexcept;

  const limits limits_;
  per_process<state> state_;
};

// The threads of all name lookups of the process: of clients (net/seam/host_lookup.hpp) and of hooked calls (ext/hook).
// A resolver waits for its name servers as long as it likes, and cannot be stopped. On the pool of blocking(), 64
// silent lookups would delay each open() of a file. Here they delay other lookups alone. Never destroyed. Any thread.
detached_threads& lookup_threads() noexcept;

}}}  // namespace hocket::detail
