// The connections that one acceptor of a server has accepted, by the time since when they are idle: the list ends
// connections that have been idle for too long, and evicts the oldest one if the server needs its place.
//
// # Words
//
//   idle        a read between two messages waits, alone and without a deadline (read_idle(), wait_for_message()), or
//               the connection waits by a readiness job
//   idle time   since when (open_descriptor::idle_since()); 0: the connection is not idle
//   slot        the connections that were found idle since times in one span, a 48th of the limit
//
// # The order is corrected late
//
// A connection becomes idle and busy again with each request. If it were moved in the list each time, each request
// would take a lock, and write to the lines of its neighbours. So a request writes the idle time alone, into its own
// descriptor. The list reads it when it examines the connection, which happens at most once in a span of the limit:
//
//   the connection               the list
//   is gone (its stream)         moves it to the newest slot: its handler may still run
//   is not idle                  moves it to the newest slot
//   is idle, since a later time  moves it to its slot
//   is idle, since its slot      ends it, if it is old enough, or to be evicted
//
// A connection never stands in a later slot than that of its idle time. So the first one that is found in its right
// slot is the oldest, to within a slot. Each step takes constant time.
//
// # The end of an idle connection
//
// The list sets a mark at the descriptor and reports an edge (open_descriptor::evict()). The driver reads first. If
// bytes have arrived, the connection gets them, answers, and ends when it becomes idle. Else its read gives the end of
// the stream.
//
// # Hazards
//
// If a connection ends while the list looks at it, then its node is freed. Prevented by the mutex, which remove()
// takes. If its descriptor is closed, and used for another connection, then the list would end that one. Prevented by
// the generation in the tag.
//
// If another thread has read the clock for the idle time, then it may be later than the time of the list. Then the
// connection counts as idle since now.
//
// # Access
//
// Any thread.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/net/detail/connection_phase.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <array>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class listed_connection;
class open_descriptor;
class readiness_job;

// The job of a connection that is a job_connection.
readiness_job& job_of(listed_connection& job) noexcept;
readiness_job& job_of(phased_connection& job) noexcept;

// A connection in its list.
class listed_connection : public list_node {
 protected:
  listed_connection() noexcept = default;

 private:
  friend class connection_list;
  std::uint64_t tag_ = 0;  // of its descriptor

 protected:
  bool is_job_ = false;  // it is a job_connection; constant once it is in the list
};

class connection_list {
 public:
  // How many connections the list looks at in one call.
  static constexpr std::size_t most_looks = 64;

  // duration::max(): no limit.
  void set_max_idle(duration limit) noexcept;

  void add(listed_connection& added, const open_descriptor& record, time_point present) noexcept;
  void remove(listed_connection& ended) noexcept;

  // Ends what has been idle for too long. Returns when to call again: at once, if there may be more;
  // time_point::max(), if nothing is to be done before changed().
  time_point end_idle(time_point present) noexcept;
  // A connection has begun a phase (connection_phase.hpp). remove_phase(): before its end.
  void add_phase(phased_connection& begun) noexcept;
  void remove_phase(phased_connection& ended) noexcept;
  // Once a second: notifies each connection with a phase that is over. Returns when to call again; time_point::max():
  // no connection has a phase.
  time_point check_phases(time_point present) noexcept;

  // Notifies the connections that are jobs (job_connection.hpp).
  void notify_jobs(std::uint32_t reasons) noexcept;
  // Ends the oldest idle connection. False: of the first ones none is idle.
  bool evict(time_point present) noexcept;

  // Waits until the list is no longer empty, or is closed.
  auto changed() noexcept { return changed_.wait(); }
  void close() noexcept;
  bool is_closed() noexcept;

 private:
  static constexpr std::uint64_t slots = 64, slots_of_limit = 48;
  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};

  struct ending {
    std::uint64_t tag;
    std::uint32_t since;
  };

  list<listed_connection>& slot_of(std::uint64_t number) noexcept { return slots_[number % slots]; }
  void advance(std::uint64_t present) noexcept;
  std::uint64_t oldest() const noexcept { return newest_ < slots ? 0 : newest_ + 1 - slots; }
  void place(listed_connection& placed, std::uint64_t since) noexcept;
  template <class IsOld>
  bool examine(listed_connection& candidate, std::uint64_t present, ending& ended, IsOld is_old) noexcept;
  bool evict_from(std::uint64_t slot, std::uint64_t present, std::size_t& looks, ending& ended) noexcept;
  bool is_due(std::uint64_t slot, std::uint64_t present) const noexcept;
  time_point next_look() noexcept;
  static void end(const ending& ended) noexcept;

  auto_reset_event changed_;
  primitive::thread_mutex mutex_;
  // Guarded by mutex_. Times are idle_time(), in 64 bits.
  std::uint64_t limit_ = no_limit;  // the most idle time
  std::uint64_t span_ = 4096;       // of a slot
  std::uint64_t newest_ = 0;        // the number of the newest slot: its time, divided by the span
  std::size_t size_ = 0;
  bool is_closed_ = false;
  std::array<list<listed_connection>, slots> slots_;
  list<phased_connection> phases_;
  time_point next_check_ = time_point::max();  // of the phases
};

}}}  // namespace hocket::detail
