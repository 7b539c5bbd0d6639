#include <hocket/core/frame_memory.hpp>

#include <hocket/base/fatal.hpp>

#include <algorithm>

namespace hocket::inline HOCKET_ABI {
namespace {

using namespace detail;

// What a bin is granted at once, in bytes: so often, and no more often, the slow path of a growing bin is taken.
constexpr std::size_t batch = std::size_t{16} << 10;

// The whole of a thread's frame memory; the bins come first, they are all that the inline code sees.
// Invariant: `ungranted` and the sum over all bins of (room + frames kept) * size make up `limit`.
struct frame_store : frame_bins {
  std::size_t limit = default_frame_memory_limit;
  std::size_t ungranted = default_frame_memory_limit;
  std::uint64_t misses = 0;
  thread_exit_hook at_exit{};
};

// What a thread has after its end, and where no store could be made: bins that are empty and have no room, so that
// every call comes to the slow path. Shared by all threads, never written.
constinit frame_bins no_store{};

frame_store* store_of(frame_bins* bins) noexcept {
  return bins && bins != &no_store ? static_cast<frame_store*>(bins) : nullptr;
}

frame_store* own_store() noexcept { return store_of(own_frames()); }

constexpr std::size_t size_of(std::size_t index) noexcept { return index * frame_step; }

void collect_room(frame_store& store) noexcept {
  for (std::size_t index = 1; index <= frame_classes; ++index) {
    store.ungranted += store.bins[index].room * size_of(index);
    store.bins[index].room = 0;
  }
}

// For a bin without room. False: the thread keeps as much as it may.
bool grant_room(frame_store& store, std::size_t index) noexcept {
  if (store.ungranted < size_of(index)) collect_room(store);
  const std::size_t frames = std::min(batch, store.ungranted) / size_of(index);
  store.ungranted -= frames * size_of(index);
  store.bins[index].room = frames;
  return frames > 0;
}

std::size_t release_all(frame_store& store) noexcept {
  std::size_t released = 0;
  for (std::size_t index = 1; index <= frame_classes; ++index) {
    while (kept_frame* frame = store.bins[index].first) {
      store.bins[index].first = frame->next;
      ::operator delete(frame, size_of(index));
      released += size_of(index);
    }
  }
  collect_room(store);
  store.ungranted = store.limit;
  return released;
}

std::size_t held_by(const frame_store& store) noexcept {
  std::size_t bytes = 0;
  for (std::size_t index = 1; index <= frame_classes; ++index) {
    for (const kept_frame* frame = store.bins[index].first; frame; frame = frame->next) bytes += size_of(index);
  }
  return bytes;
}

void end_store(thread_exit_hook&) noexcept {
  frame_store* store = own_store();
  current_slot(thread_slot::frame_memory) = &no_store;
  if (!store) return;
  release_all(*store);
  delete store;
}

// Null when there is no memory for it: then frames go to the heap, for as long as that lasts.
frame_store* make_store() noexcept {
  auto* store = new (std::nothrow) frame_store;
  if (!store) return nullptr;
  store->at_exit.run = end_store;
  at_thread_exit(store->at_exit);
  current_slot(thread_slot::frame_memory) = static_cast<frame_bins*>(store);
  return store;
}

frame_store* store_or_new(frame_bins* own) noexcept { return own ? store_of(own) : make_store(); }

}  // namespace

namespace detail {

void* allocate_frame_slowly(frame_bins* own, std::size_t bytes) {
  if (frame_store* store = store_or_new(own)) ++store->misses;
  return ::operator new(size_of(frame_class(bytes)));
}

void release_frame_slowly(frame_bins* own, void* memory, std::size_t bytes) noexcept {
  const std::size_t index = frame_class(bytes);
  frame_store* store = store_or_new(own);
  if (!store || !grant_room(*store, index)) return ::operator delete(memory, size_of(index));
  frame_bin& bin = store->bins[index];
  --bin.room;
  bin.first = ::new (memory) kept_frame{bin.first};
}

void release_frame_by_call(void* frame, std::size_t bytes) noexcept { release_frame(frame, bytes); }

}  // namespace detail

frame_memory_statistics frame_memory_usage() noexcept {
  frame_store* store = own_store();
  if (!store) return {};
  std::uint64_t hits = 0;
  for (const frame_bin& bin : store->bins) hits += bin.hits;
  return {hits, store->misses, held_by(*store)};
}

std::size_t trim_frame_memory() noexcept {
  frame_store* store = own_store();
  return store ? release_all(*store) : 0;
}

std::size_t frame_memory_limit() noexcept {
  frame_store* store = own_store();
  return store ? store->limit : default_frame_memory_limit;
}

std::size_t frame_memory_limit(std::size_t bytes) noexcept {
  const std::size_t before = frame_memory_limit();
  if (frame_store* store = store_or_new(own_frames())) {
    store->limit = bytes;
    release_all(*store);
  }
  return before;
}

}  // namespace hocket::inline HOCKET_ABI
