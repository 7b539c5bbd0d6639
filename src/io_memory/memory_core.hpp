// What all streams and drivers of one network share: its connections, and what is on its way.
//
// An *end* belongs to one stream. Bytes that are written to an end are a segment at the other end, with the time of its
// arrival. An *arrival* is an edge that a driver tells when its time has come: whichever polls first.
//
// Locks. The core's mutex is taken under the mutex of a descriptor, and is never held while an edge is told.
#pragma once
#include <hocket/base/detail/mutex.hpp>
#include <hocket/base/random.hpp>
#include <hocket/core/detail/driver.hpp>
#include <hocket/io/detail/backend.hpp>
#include <hocket/io/detail/open_descriptor.hpp>
#include <hocket/io_memory/memory_network.hpp>

#include <deque>
#include <queue>
#include <vector>

namespace hocket::inline HOCKET_ABI::detail {

class memory_core;
class memory_driver;

struct memory_end {
  struct segment {
    time_point at;
    std::vector<char> bytes;
    std::size_t begin = 0;
  };
  std::shared_ptr<memory_core> core;  // lives as long as any end
  std::uint64_t tag = 0;              // of its descriptor
  memory_end* other = nullptr;        // null: that is gone
  std::deque<segment> coming;
  std::size_t on_way = 0;              // bytes in `coming`
  time_point last{};                   // the arrival of the last segment
  time_point end = time_point::max();  // when the end of the other side arrives
  bool reset = false;
  bool was_full = false;  // a writer of the other side waits for room here
};

enum class memory_side : std::uint8_t { in, out, peer };

class memory_core final : public backend, public std::enable_shared_from_this<memory_core> {
 public:
  explicit memory_core(const memory_options& options);
  ~memory_core();

  memory_pair connect();
  void reset(memory_end& one) noexcept;

  // backend
  call_end carry_out(open_descriptor& at, transfer& what) noexcept override;
  result<io_driver*> driver_here() noexcept override;
  void close(open_descriptor& gone) noexcept override;

  // --- for drivers
  time_point now() const noexcept { return clock().now(); }
  manual_clock* moved_clock() const noexcept { return options_.time; }
  void add(memory_driver& one);
  void remove(memory_driver& one) noexcept;
  time_point next_arrival() const noexcept;
  // An arrival whose time has come. False: there is none.
  bool take_arrival(std::uint64_t& tag, memory_side& side) noexcept;
  // All that there is now, for one that begins to wait.
  void tell_all(const open_descriptor& one) noexcept;

 private:
  struct arrival {
    time_point at;
    std::uint64_t number;  // in order, where times are equal
    std::uint64_t tag;
    memory_side side;
    bool operator>(const arrival& other) const noexcept {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  class kind;

  const clock_source& clock() const noexcept { return options_.time ? *options_.time : steady_clock(); }
  bool happens(unsigned chance) noexcept { return chance != 0 && random_.below(256) < chance; }
  std::size_t some_of(std::size_t size, unsigned chance) noexcept;
  duration latency() noexcept;
  stream open(std::unique_ptr<memory_end> end);
  void arrives(time_point at, const memory_end* whom, memory_side side);
  void break_up(memory_end& one);
  void ring_all() noexcept;
  static bool has_bytes(const memory_end& at, time_point present) noexcept;
  static bool is_readable(const memory_end& at, time_point present) noexcept;
  call_end call(memory_end& at, transfer& what);
  template <class Buffer>
  call_end in_parts(memory_end& at, transfer& what);
  call_end read(memory_end& at, transfer& what);
  call_end write(memory_end& at, transfer& what);
  call_end look(const memory_end& at, transfer& what) const noexcept;

  const memory_options options_;
  const std::unique_ptr<kind> kind_;
  mutable primitive::thread_mutex mutex_;
  // Guarded by mutex_.
  random_engine random_;
  std::priority_queue<arrival, std::vector<arrival>, std::greater<>> arrivals_;
  std::uint64_t numbers_ = 0;
  std::vector<memory_driver*> drivers_;
};

}  // namespace hocket::inline HOCKET_ABI::detail
