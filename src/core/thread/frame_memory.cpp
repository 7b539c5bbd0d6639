#include <hocket/base/memory_source.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/housekeeping.hpp>

#include "core/thread/frame_depot.hpp"

#include <algorithm>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

namespace {

using namespace detail;

// The generation of each thread begins with a number of its own (housekeeping.hpp).
constexpr std::uint64_t generations_per_thread = std::uint64_t{1} << 32;
constinit atomic<std::uint64_t> next_generation{generations_per_thread};

// The frame memory of a thread. The bins are first: the inline code uses nothing else.
//
// An empty bin may be closed: it has no free places, so the next freed frame takes the slow path. If a reclaim finds
// that the store caches nothing, it closes all bins, and the next freed frame changes the generation.
struct frame_store : frame_bins {
  std::uint64_t misses = 0;
  thread_exit_hook at_exit{};
  time_point period_begin = time_point::max();  // the begin of the period of decay; max(): none has begun
  std::uint64_t hits_before[frame_classes + 1]{};
};

// The bins of a thread that caches no frames: it has ended, or a memory_source is set. They are empty and have no free
// places, so every call takes the slow path. Shared by all threads, never written.
constinit frame_bins no_store{};

frame_store* store_of(frame_bins* bins) noexcept {
  return bins && bins != &no_store ? static_cast<frame_store*>(bins) : nullptr;
}

frame_store* own_store() noexcept { return store_of(own_frames()); }

std::size_t cached_in(const frame_bin& bin, std::size_t index) noexcept {
  const std::size_t loaded = bin.first ? magazine_frames(index) - bin.free_places : 0;
  return loaded * frame_size(index) + (bin.full ? magazine_bytes(index) : 0);
}

std::size_t cached_by(const frame_store& store) noexcept {
  std::size_t bytes = 0;
  for (std::size_t index = 1; index <= frame_classes; ++index) bytes += cached_in(store.bins[index], index);
  return bytes;
}

void free_loaded(frame_bin& bin, std::size_t index) noexcept {
  free_frames(std::exchange(bin.first, nullptr), index);
  bin.free_places = 0;
}

// The loaded magazine is empty. Loads another one, and takes its first frame.
cached_frame* load_magazine(frame_bin& bin, std::size_t index) noexcept {
  cached_frame* const full = bin.full ? std::exchange(bin.full, nullptr) : frame_depot::shared().take(index);
  if (!full) return nullptr;
  bin.first = full->next;
  bin.free_places = 1;
  ++bin.hits;
  return full;
}

// The loaded magazine is full. An empty one takes its place.
void unload_magazine(frame_bin& bin, std::size_t index) noexcept {
  if (bin.full) frame_depot::shared().leave(bin.full, index);
  bin.full = std::exchange(bin.first, nullptr);
  bin.free_places = magazine_frames(index);
}

// Leaves a full magazine to other threads, and frees the rest.
void give_up(frame_bin& bin, std::size_t index) noexcept {
  if (bin.full) frame_depot::shared().leave(std::exchange(bin.full, nullptr), index);
  free_loaded(bin, index);
}

void end_store(thread_exit_hook&) noexcept {
  frame_store* store = own_store();
  set_current_slot(thread_slot::frame_memory, &no_store);
  if (!store) return;
  for (std::size_t index = 1; index <= frame_classes; ++index) give_up(store->bins[index], index);
  delete store;
}

void close(frame_store& empty) noexcept {
  for (frame_bin& bin : empty.bins) bin.free_places = 0;
  empty.period_begin = time_point::max();
}

// Gives up the frames of each size that the thread did not use for a period. Returns the time until the end of the next
// period.
duration decay_of(frame_store& store, time_point now, duration period) noexcept {
  const bool begins = now < store.period_begin;  // the first period, or by another clock
  if (!begins && now - store.period_begin < period) return period - (now - store.period_begin);
  for (std::size_t index = 1; index <= frame_classes; ++index) {
    frame_bin& bin = store.bins[index];
    if (std::exchange(store.hits_before[index], bin.hits) == bin.hits && !begins) give_up(bin, index);
  }
  if (cached_by(store) == 0) {
    close(store);
    return duration::max();
  }
  store.period_begin = now;
  return period;
}

// Returns null without memory, or if it could not be destroyed at the end of the thread: then frames use the heap for
// the present. Returns null for ever if a memory_source is set.
frame_store* make_store() noexcept {
  if (!keeps_released_memory()) {
    set_current_slot(thread_slot::frame_memory, &no_store);
    return nullptr;
  }
  auto* store = new (std::nothrow) frame_store;
  if (!store) return nullptr;
  store->at_exit.run = end_store;
  if (!at_thread_exit(store->at_exit)) {
    delete store;
    return nullptr;
  }
  // ORDER: relaxed, pairs with nothing: a unique number.
  this_thread().frame_generation = next_generation.fetch_add(generations_per_thread, std::memory_order_relaxed);
  set_current_slot(thread_slot::frame_memory, static_cast<frame_bins*>(store));
  return store;
}

frame_store* store_or_new(frame_bins* own) noexcept { return own ? store_of(own) : make_store(); }

}  // namespace

namespace detail {

void* allocate_frame_slowly(frame_bins* own, std::size_t bytes) {
  const std::size_t index = frame_class(bytes);
  if (frame_store* store = store_or_new(own)) {
    if (cached_frame* frame = load_magazine(store->bins[index], index)) {
      if (store->period_begin == time_point::max()) ++this_thread().frame_generation;
      return frame;
    }
    ++store->misses;
  }
  return new_frame(frame_size(index));
}

void release_frame_slowly(frame_bins* own, void* memory, std::size_t bytes) noexcept {
  const std::size_t index = frame_class(bytes);
  frame_store* store = store_or_new(own);
  if (!store) return delete_frame(memory, frame_size(index));
  if (store->period_begin == time_point::max()) ++this_thread().frame_generation;
  frame_bin& bin = store->bins[index];
  if (bin.free_places == 0) unload_magazine(bin, index);
  --bin.free_places;
  bin.first = ::new (memory) cached_frame{bin.first};
}

duration reclaim_frames(const clock_source& clock) noexcept {
  frame_depot& depot = frame_depot::shared();
  const duration period = depot.decay();
  frame_store* store = own_store();
  if (!depot.uses_clock(clock)) return duration::max();
  if (!store && depot.held() == 0) return duration::max();
  const time_point now = clock.now();
  const duration due = store ? decay_of(*store, now, period) : duration::max();
  return std::min(due, depot.maintain(now));
}

void release_frame_by_call(void* frame, std::size_t bytes) noexcept { release_frame(frame, bytes); }

}  // namespace detail

frame_memory_statistics frame_memory_usage() noexcept {
  const std::size_t shared = frame_depot::shared().held();
  frame_store* store = own_store();
  if (!store) return {.shared = shared};
  std::uint64_t hits = 0;
  for (const frame_bin& bin : store->bins) hits += bin.hits;
  return {hits, store->misses, cached_by(*store), shared};
}

std::size_t trim_frame_memory() noexcept {
  std::size_t released = frame_depot::shared().trim();
  frame_store* store = own_store();
  if (!store) return released;
  released += cached_by(*store);
  for (std::size_t index = 1; index <= frame_classes; ++index) {
    free_frames(std::exchange(store->bins[index].full, nullptr), index);
    free_loaded(store->bins[index], index);
  }
  close(*store);
  return released;
}

std::size_t frame_memory_limit() noexcept { return frame_depot::shared().limit(); }

std::size_t frame_memory_limit(std::size_t bytes) noexcept {
  const std::size_t before = frame_depot::shared().limit(bytes);
  if (frame_depot::shared().held() > bytes) frame_depot::shared().trim();
  return before;
}

void frame_memory_decay(duration period, const clock_source& clock) noexcept {
  frame_depot::shared().set_decay(period, clock);
  bump_policy_version();
}

}}  // namespace hocket
