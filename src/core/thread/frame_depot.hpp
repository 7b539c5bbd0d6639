// The depot: full magazines of frames (frame_memory.hpp) that no thread caches. Threads that free more frames than they
// allocate leave magazines here, and threads that allocate more take them.
//
// There is one shelf for each size class, with its own lock. A magazine is taken or left once for 16 KiB of frames. The
// total of all shelves is counted before a magazine is put down and after it was taken, so the limit holds at every
// moment.
//
// Decay. The minimum of magazines on a shelf in a period was not needed: at the end of the period so many return to the
// heap, a megabyte at a time. One thread at a time does this, under a lock that the others only try.
//
// The bound without a limit. All frames on the shelves were in use at one time. After a decay, all of them were taken
// and left in the last period. So a burst of spawns finds the frames of the burst before, however many there are.
// Threads that run no loop have no memory_reclaimer (core/thread/seam/housekeeping.hpp). For them each 64th magazine
// that is left runs the decay, so the depot shrinks while any thread uses frames.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/frame_memory.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constexpr std::size_t frame_size(std::size_t index) noexcept { return index * frame_step; }

// Frames in a full magazine.
constexpr std::size_t magazine_frames(std::size_t index) noexcept {
  return (std::size_t{16} << 10) / frame_size(index);
}
constexpr std::size_t magazine_bytes(std::size_t index) noexcept { return magazine_frames(index) * frame_size(index); }

// Returns a list of frames to the heap.
void free_frames(cached_frame* first, std::size_t index) noexcept;

// Returns the due memory of this thread. Returns the time until the next call; duration::max(): not before the
// generation changes.
duration reclaim_frames(const clock_source& time) noexcept;

class frame_depot {
 public:
  static frame_depot& shared() noexcept;

  cached_frame* take(std::size_t index) noexcept;              // null: the shelf is empty
  void leave(cached_frame* full, std::size_t index) noexcept;  // at the limit the frames return to the heap
  std::size_t trim() noexcept;                                 // returns the size in bytes

  // Runs the decay that is due. Returns the time until the next; duration::max(): not before a magazine is left here.
  duration maintain(time_point now) noexcept;
  void set_decay(duration period, const clock_source& time) noexcept;

  // ORDER: relaxed, pairs with nothing: statistics, and a limit that may take effect late.
  std::size_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
  std::size_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  std::size_t limit(std::size_t bytes) noexcept { return limit_.exchange(bytes, std::memory_order_relaxed); }
  // ORDER: relaxed, pairs with nothing: numbers, each used by itself.
  duration decay() const noexcept { return duration(decay_.load(std::memory_order_relaxed)); }
  bool uses_clock(const clock_source& time) const noexcept {
    // ORDER: relaxed, pairs with nothing: an address that is compared.
    const clock_source* own = time_.load(std::memory_order_relaxed);
    return &time == (own ? own : &steady_clock());
  }

 private:
  // The first frame of a magazine that lies on a shelf.
  struct magazine : cached_frame {
    magazine* below;
  };
  static_assert(sizeof(magazine) <= frame_step);

  struct shelf {
    thread_mutex lock;
    magazine* top = nullptr;
    std::size_t count = 0;
    std::size_t lowest =
        0;  // the minimum of the count in this period; at its end the number that is still to be released
    std::uint32_t put_count = 0;  // magazines that were left here; wraps
  };
  static constexpr std::uint32_t puts_per_maintenance = 64;  // magazines: a megabyte, as much as is released at once
  bool reserve(std::size_t bytes) noexcept;
  bool put(cached_frame* full, shelf& to) noexcept;
  magazine* pop(shelf& from) noexcept;
  magazine* pop_unneeded(shelf& from) noexcept;
  bool release_unneeded() noexcept;
  void set_due(time_point due) noexcept;
  time_point due() const noexcept;

  shelf shelves_[frame_classes + 1];
  atomic<std::size_t> held_{0};
  atomic<std::size_t> limit_{default_frame_memory_limit};
  atomic<duration::rep> decay_{default_frame_memory_decay.count()};
  atomic<const clock_source*> time_{nullptr};  // null: the machine's
  atomic<duration::rep> due_{0};               // the end of the period
  thread_mutex maintenance_;                   // guards:
  std::size_t next_shelf_ = 1;                 // the shelf that is released next
};

}}}  // namespace hocket::detail
