// The full magazines of frames (frame_memory.hpp) that no thread has: those that free more than they allocate leave
// them here for those that allocate more than they free.
//
// A shelf for each size class, with a lock of its own; a magazine is taken or left once for 16 KiB of frames. What all
// shelves hold is counted before a magazine is put down and after it was taken, so a limit holds at every moment.
//
// Decay. The fewest magazines that a shelf had in a period is what nobody needed in it: at the end of the period so
// many go to the heap, a megabyte at a time. One thread at a time does this, under a lock that the others only try.
//
// The bound, where no limit is set: every frame on a shelf was in use at some time, all of them at once; and what
// decay leaves of them was taken and left in the last period. So a storm of spawns finds the frames of the one before
// it here, however many these are. Threads that run no loop keep no house (core/thread/seam/housekeeping.hpp). For
// them each 64th magazine that is left does, so the depot shrinks while anybody uses frames.
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

// A list of frames, back to the heap.
void free_frames(cached_frame* first, std::size_t index) noexcept;

// What is due on this thread. In what time it is to be called again; max(): not before there is news.
duration reclaim_frames(const clock_source& time) noexcept;

class frame_depot {
 public:
  static frame_depot& shared() noexcept;

  cached_frame* take(std::size_t index) noexcept;              // null: there is none
  void leave(cached_frame* full, std::size_t index) noexcept;  // at the limit it goes to the heap
  std::size_t trim() noexcept;                                 // returns the bytes

  // Does what is due of decay. In what time there is more to do; max(): nothing before something is left here.
  duration maintain(time_point now) noexcept;
  void set_decay(duration period, const clock_source& time) noexcept;

  // ORDER: relaxed, pairs with nothing: numbers for statistics, and a limit that begins to hold some time.
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
    std::size_t lowest = 0;  // the least that the count was in this period; at its end what is still to be given back
    std::uint32_t put_count = 0;  // how often one was left here; wraps
  };
  static constexpr std::uint32_t puts_per_maintenance =
      64;  // magazines left: a megabyte, as much as is given back at once
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
  atomic<duration::rep> due_{0};               // when the period ends
  thread_mutex maintenance_;                   // guards:
  std::size_t next_shelf_ = 1;                 // the shelf that is to be given back next
};

}}}  // namespace hocket::detail
