// The state that the objects and drivers of one network share: clock, random numbers, names, and scheduled edges.
//
// An *arrival* is an edge with a time. The first driver that polls after this time takes it, and reports the edge.
//
// Locks. The mutex may be locked under the mutex of a descriptor. It is never held while an edge is reported.
//
// Access. lock(): any thread. The members of objects: under the mutex. The members of drivers lock it.
#pragma once
#include <hocket/base/random.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/io/seam/backend.hpp>
#include <hocket/io_memory/detail/memory_options.hpp>

#include "io_memory/memory_names.hpp"

#include <queue>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The direction of an edge.
enum class memory_side : std::uint8_t { in, out, peer };

// The interface of a driver for the medium. Any thread.
class arrival_watcher {
 public:
  // An arrival may be earlier than the one for which the driver sleeps.
  virtual void recheck() noexcept = 0;

 protected:
  ~arrival_watcher() = default;
};

class memory_medium {
 public:
  // `sockets` carries out the calls at the descriptors of objects.
  memory_medium(const memory_options& options, backend& sockets) noexcept
      : options_(options), sockets_(sockets), random_(options.seed) {}
  memory_medium(const memory_medium&) = delete;
  memory_medium& operator=(const memory_medium&) = delete;

  primitive::locked<primitive::thread_mutex> lock() const noexcept {
    return primitive::locked<primitive::thread_mutex>(mutex_);
  }
  const memory_options& options() const noexcept { return options_; }
  backend& sockets() const noexcept { return sockets_; }
  const clock_source& clock() const noexcept { return options_.clock ? *options_.clock : steady_clock(); }
  time_point now() const noexcept { return clock().now(); }

  // --- for objects
  bool happens(unsigned chance) noexcept { return chance != 0 && random_.below(256) < chance; }
  // `size`, or with this chance a random part of it: at least one byte.
  std::size_t random_part(std::size_t size, unsigned chance) noexcept;
  duration latency() noexcept;
  memory_object* choose(const std::vector<memory_object*>& objects) noexcept;
  // Schedules an edge of the descriptor with this tag. Throws std::bad_alloc.
  void schedule_edge(time_point when, std::uint64_t tag, memory_side side);
  // Schedules the edge of bytes that arrive at this time. By chance the edge is late, or an early edge precedes it.
  void schedule_bytes(time_point when, std::uint64_t tag);
  memory_names streams, datagrams;

  // --- for drivers
  manual_clock* moved_clock() const noexcept { return options_.clock; }
  void add(arrival_watcher& watcher);
  void remove(arrival_watcher& watcher) noexcept;
  time_point next_arrival() const noexcept;
  // Removes an arrival that is due. False: there is none.
  bool take_arrival(std::uint64_t& tag, memory_side& side) noexcept;
  void notify_watchers() noexcept;

 private:
  struct arrival {
    time_point when;
    std::uint64_t number;  // the order of arrivals at one time
    std::uint64_t tag;
    memory_side side;
    bool operator>(const arrival& other) const noexcept {
      return when != other.when ? when > other.when : number > other.number;
    }
  };

  const memory_options options_;
  backend& sockets_;
  mutable primitive::thread_mutex mutex_;
  // Guarded by mutex_, as are the names.
  random_engine random_;
  std::priority_queue<arrival, std::vector<arrival>, std::greater<>> arrivals_;
  std::uint64_t arrival_count_ = 0;
  std::vector<arrival_watcher*> watchers_;
};

}}}  // namespace hocket::detail
