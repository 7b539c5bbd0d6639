// The full magazines of frames (frame_memory.hpp) that no thread has: those that free more than they allocate leave
// them here for those that allocate more than they free.
//
// A shelf for each size class, with a lock of its own; a magazine is taken or left once for 16 KiB of frames. What all
// shelves hold is counted before a magazine is put down and after it was taken, so the limit holds at every moment.
#pragma once
#include <hocket/base/atomic.hpp>
#include <hocket/base/mutex.hpp>
#include <hocket/core/frame_memory.hpp>

namespace hocket::inline HOCKET_ABI::detail {

constexpr std::size_t frame_size(std::size_t index) noexcept { return index * frame_step; }

// Frames in a full magazine.
constexpr std::size_t magazine_frames(std::size_t index) noexcept {
  return (std::size_t{16} << 10) / frame_size(index);
}
constexpr std::size_t magazine_bytes(std::size_t index) noexcept { return magazine_frames(index) * frame_size(index); }

// A list of frames, back to the heap.
void free_frames(kept_frame* first, std::size_t index) noexcept;

class frame_depot {
 public:
  static frame_depot& shared() noexcept;

  kept_frame* take(std::size_t index) noexcept;              // null: there is none
  void leave(kept_frame* full, std::size_t index) noexcept;  // at the limit it goes to the heap
  std::size_t trim() noexcept;                               // returns the bytes

  // ORDER: relaxed, pairs with nothing: numbers for statistics, and a limit that begins to hold some time.
  std::size_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
  std::size_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  std::size_t limit(std::size_t bytes) noexcept { return limit_.exchange(bytes, std::memory_order_relaxed); }

 private:
  // The first frame of a magazine that lies on a shelf.
  struct magazine : kept_frame {
    magazine* below;
  };
  static_assert(sizeof(magazine) <= frame_step);

  struct shelf {
    thread_mutex lock;
    magazine* top = nullptr;
  };
  bool reserve(std::size_t bytes) noexcept;

  shelf shelves_[frame_classes + 1];
  atomic<std::size_t> held_{0};
  atomic<std::size_t> limit_{default_frame_memory_limit};
};

}  // namespace hocket::inline HOCKET_ABI::detail
