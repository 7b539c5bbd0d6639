#pragma once
// The page `primitives`: its workloads, for all languages. A subject is called as
//
//   <program> [<system>] <workload> <workers> <stack bytes> <budget ms> <count>
//
// where <count> is the number of coroutines. A batch does k units; k is a multiple of 64. The whole batch is timed,
// from before its coroutines are spawned until the last has ended; the workers exist before. So a unit is wall
// time, of all workers together. Batches grow until one takes a sixteenth of the budget. The result is the median of
// nine batches, or of fewer if later batches take longer.
//
//   mutex_free              as many coroutines as workers, each with a mutex of its own: lock, add to a counter beside
//                           it, unlock. A unit is one of each; all together do k
//   mutex_contended         `count` coroutines and one mutex: lock, add, yield, unlock. All others wait meanwhile. The
//                           system chooses the next coroutine
//   mutex_parallel          `count` coroutines and one mutex: lock, add, unlock, and no yield
//   semaphore_free          one coroutine acquires and releases the only permit
//   semaphore_contended     `count` coroutines, two permits: acquire one, yield, release it
//   pool_free               one coroutine borrows a connection of a pool and returns it
//   pool_contended          `count` coroutines and a pool of eight connections: borrow one, yield, return it
//   event_free              one coroutine sets an event and waits for it, which resets it
//   event_ping_pong         two coroutines: one sets the event that the other waits for, then waits for its own
//   channel_same            one coroutine sends a value through a channel and receives it
//   channel_1p1c            one sends k values and closes, another receives until then
//   channel_4p4c            four send k values together, four others receive them
//   channel_rendezvous      two coroutines, two channels without a buffer: they send a value to each other in turn; a
//                           unit is one direction
//   channel_batch           as channel_1p1c, with a buffer of 256; the receiver takes up to 64 at once
//   select_of_4             two coroutines: each waits for four events. One sets one of the other's events, each event
//                           in turn, then waits for one of its own four
//   select_of_2_sockets     two coroutines with two Unix sockets each: one writes a byte to one of the two sockets from
//                           which the other reads, each in turn, then reads from its own two
//   broadcast_100           one coroutine sends, each of `count` others receives all; a unit is one value, sent and
//                           received by all. After 16 values the sender waits until all have them
//   condition_ping_pong     two coroutines, a mutex, a condition for each: each waits for its turn, passes the
//                           turn to the other one, and notifies. They hold the mutex except while they wait
//   monitor_ping_pong       the same with one condition, which belongs to the lock
//   monitor_free            one coroutine locks a reentrant lock twice, adds, and unlocks twice
//   monitor_contended       `count` coroutines and one reentrant lock: lock it twice, add, yield, unlock twice
//   shared_free             one coroutine locks a shared mutex for reading, adds, unlocks
//   shared_mixed            `count` coroutines and one shared mutex: lock, add, yield, unlock. One turn in eight
//                           writes, the others read
//   timed_free              as mutex_free with one coroutine, the lock under a deadline that does not pass
//   timed_ping_pong         as event_ping_pong, the wait under a deadline that does not pass
//   timed_expire            each of `count` coroutines waits 32 times for an event of its own that is never set,
//                           under a deadline that passes: after one to two microseconds times `count`. Processor time
//                           of a wait, the second time
//
// A buffer holds 64 values unless its row has another size. Values are small numbers, which are summed up; turns and
// units are counted. A batch with a wrong sum or count fails.
#include "scheduler/scheduler.hpp"
#include "wait.hpp"

namespace lab {

constexpr std::size_t buffered = 64, buffered_for_batches = 256, most_at_once = 64, burst = 16;
constexpr std::uint64_t permits_for_many = 2, pooled_connections = 8, waits_that_expire = 32;
inline bool is_write(std::uint64_t turn) { return turn % 8 == 7; }

inline std::uint64_t value_of(std::uint64_t i) { return i & 127; }
inline std::uint64_t sum_of_values(std::uint64_t begin, std::uint64_t end) {
  std::uint64_t sum = 0;
  for (; begin != end; ++begin) sum += value_of(begin);
  return sum;
}

// `units(load, k)` does k units and returns whether all went as intended.
struct named_primitive {
  std::string_view workload;
  bool (*units)(const load& r, std::uint64_t k);
};

inline int run_expiring(const char* system, const load& r, const named_primitive& one) {
  const std::uint64_t k = r.count * waits_that_expire;
  const double ns = second_time([&] {
    if (!one.units(r, k)) fail("a wait did not expire");
  });
  r.emit_of(system, "timed_expire", "ns", ns / static_cast<double>(k));
  return 0;
}

template <std::size_t N>
int run_primitives(const char* system, int argc, char** argv, const named_primitive (&known)[N]) {
  const load r = parse_load(argc, argv);
  for (const named_primitive& one : known) {
    if (one.workload != r.workload) continue;
    if (one.workload == "timed_expire") return run_expiring(system, r, one);
    return run_batches(system, r, [&](std::uint64_t k) { return one.units(r, k); });
  }
  fail("this subject does not know that workload");
}

// A counter beside the lock that guards it, in cache lines of their own.
template <class Lock>
struct alignas(128) guarded {
  Lock lock{};
  std::uint64_t counter = 0;
};

// The sender of broadcast_100 waits until all have a burst.
class burst_count {
 public:
  explicit burst_count(std::size_t receivers) : receivers_(receivers), left_(receivers) {}

  // Returns whether this receiver was the last; the last one notifies the sender.
  bool is_last() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    left_.store(receivers_, std::memory_order_relaxed);
    return true;
  }

 private:
  std::size_t receivers_;
  std::atomic<std::size_t> left_;
};

}  // namespace lab
