// A readiness job: a job that a descriptor posts when a call may succeed. An object waits by it without a coroutine.
//
// # Why
//
// The wait of a coroutine takes the frame of the coroutine, its spawned object and the storage of the wait: 700 bytes
// and more. A connection between two requests needs none of them: it is 48 bytes of a repeating job and a word here.
//
// # Words
//
//   job        the readiness job; it lies in an object of its user, the *connection*
//   home       the executor that runs the job. One thread at a time
//   linked     the word of a direction holds the job (direction.hpp)
//   reasons    bits: why the job runs
//   posted     the bit that says that the job is in a queue of its home, or on its way there
//
// # States
//
//   reasons                  meaning                            left by                                 to
//   0                        the job runs, or waits             notify(): posts the job                 posted
//   posted and other bits    the job is in a queue of its home  notify(): adds its bits                 posted
//                                                               take_reasons(), at the begin of a run   0
//
// Each direction that a job waits for holds the job on its own. A job may be linked to the directions `in`, `out` and
// `peer` of a descriptor at a time, to each of them once.
//
//   word of the direction    left by                        to
//   idle                     direction::watch()             linked
//   linked                   edge(): notifies the job       ready
//                            unwatch()                      idle
//                            close(): notifies the job      closed
//
// # Protocol
//
//   the connection, in a run of the job            another party, on any thread
//   1. take_reasons()                              a. a driver: edge() takes the job out of the word,
//   2. makes calls, until one would block             then calls notify(readable)
//   3. watch(): links the job, or reports that     b. the list of connections (net): notify(requested)
//      the direction is ready: back to 2
//   4. returns; a run follows each notify()
//
// The driver makes no call for a job: it has no buffer. It grants readiness, and the job makes the call on its home.
// A spurious edge costs a run and one call that would block.
//
// # The end of a connection
//
// The connection ends in a run of its job, and in this order:
//   1. It leaves the lists of other parties, under their locks. So nobody calls notify(requested) any more.
//   2. It calls unwatch() for each direction to which its job is linked. True: the job is unlinked. False: an edge or a
//      close has taken the job, and calls notify(), or has called it.
//   3. If a notify() is missing, the connection waits for it: the run returns, and the next one continues here.
//   4. If is_posted(), a run follows: as 3. Else the job is in no queue, and the connection is destroyed.
//
// # Hazards
//
// If a driver has taken the job out of the word and not yet called notify(), and the connection is destroyed meanwhile,
// then the driver touches freed memory. Prevented by step 3: a connection that cannot unlink its job lives until the
// run for that edge.
//
// If the list, the driver and a close notify at the same time, then the job would be in a queue twice. Prevented by
// `posted`: only the party that sets it posts.
//
// If an edge arrives between a call that blocks and watch(), then the edge would be lost. Prevented by the word: the
// edge has made it ready, and watch() links at an idle word alone.
//
// If a notify() is called while the job runs, then its reason would be lost. Prevented: the run has cleared `posted`,
// so that notify() posts the job again. If the run took the reasons a second time, then it would clear the mark of a
// post that is under way, and the next notify() would post the job twice. So a run takes them once, first.
//
// If a coroutine reads the same direction (a read_idle() after an upgrade, say), then two parties wait for one edge.
// The word has place for one. A later coroutine waits in the line of the direction, and an edge notifies
// the job first, then serves the line. A later job is not linked: watch() returns `occupied`. So nothing is
// lost, but the bytes belong to either: let one of them read.
//
// If another party has the word for a moment (it serves a read that was cancelled), then watch() returns `busy`. The
// connection notifies itself, and tries again in its next run.
//
// If the connection moves its stream to another object, then the job must not stay linked: unwatch() first.
//
// If the server evicts a connection, or drains, while bytes arrive, then they would be lost with it. Prevented: the
// party sets a mark at the descriptor and reports an edge (open_descriptor::end_when_idle()). The job reads first. Only
// a read that would block finds the mark.
//
// If a job is known to a list before its first post, then the list could notify it, and the run could destroy it, while
// its maker still posts. Prevented: hold_first_run() before the list, post_first_run() last.
//
// If the process forks, the child has a copy of a linked job. If an edge in the child notified it, then the child would
// post to an executor without a thread. Prevented: open_descriptor::leave_parent() makes the word ready, and drops the
// job.
//
// If the loop of the driver ends, each linked job is notified: its next watch() finds another driver, or fails. The
// home of a job outlives its connection.
//
// Access. notify(): any thread that may know the job (above). All else: the home's thread.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/io/detail/repeating_job.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Bits of readiness_job.
namespace job_reason {
inline constexpr std::uint32_t readable = 1;    // a read may succeed, or gives the end of the stream
inline constexpr std::uint32_t writable = 2;    // a write may succeed, or fails
inline constexpr std::uint32_t peer_end = 4;    // the peer may have shut down or closed
inline constexpr std::uint32_t requested = 8;   // by another party of the program
inline constexpr std::uint32_t stopped = 16;    // the same: the connection is to end now
inline constexpr std::uint32_t late = 32;       // the same: a deadline has passed
inline constexpr std::uint32_t returned = 64;   // a coroutine gives back what the job has lent to it
inline constexpr std::uint32_t handover = 128;  // a coroutine asks the job to release what it watches
}  // namespace job_reason

// The answer of direction::watch().
enum class watch_outcome : std::uint8_t {
  linked,    // the job is notified when a call may succeed
  ready,     // a call may succeed now
  busy,      // another party has the direction for a moment: try again in a later run
  occupied,  // a coroutine waits for the direction
  closed,    // the descriptor is closed
  failed,    // the direction cannot be watched: no memory, or no fds for a driver
};

class readiness_job : public repeating_job {
 public:
  readiness_job(executor& home, function body) noexcept : repeating_job(body) { entry.home = &home; }

  void notify(std::uint32_t reasons) noexcept;

  // Instead of the first notify(), by the party that has made the job. From hold_first_run() on, others may know the
  // job: their notify() adds reasons, and does not post. post_first_run() posts it; afterwards it may be destroyed.
  void hold_first_run() noexcept {
    // ORDER: relaxed, pairs with nothing: no other party knows the job yet.
    reasons_.store(posted, std::memory_order_relaxed);
  }
  void post_first_run(std::uint32_t reasons) noexcept;

  // In a run, once, first. Afterwards notify() posts the job again.
  std::uint32_t take_reasons() noexcept;
  // In a run, after take_reasons(): whether another run follows.
  bool is_posted() const noexcept {
    // ORDER: relaxed, pairs with nothing: in step 4 no party calls notify() any more.
    return reasons_.load(std::memory_order_relaxed) != 0;
  }

 private:
  static constexpr std::uint32_t posted = std::uint32_t{1} << 31;

  primitive::atomic<std::uint32_t> reasons_{0};
};

}}}  // namespace hocket::detail
