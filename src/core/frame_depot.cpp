#include "core/frame_depot.hpp"

#include <utility>

namespace hocket::inline HOCKET_ABI::detail {
namespace {

constinit frame_depot the_frame_depot{};

}  // namespace

frame_depot& frame_depot::shared() noexcept { return the_frame_depot; }

void free_frames(kept_frame* first, std::size_t index) noexcept {
  while (first) ::operator delete(std::exchange(first, first->next), frame_size(index));
}

kept_frame* frame_depot::take(std::size_t index) noexcept {
  shelf& from = shelves_[index];
  locked guard(from.lock);
  magazine* const taken = from.top;
  if (!taken) return nullptr;
  from.top = taken->below;
  // ORDER: relaxed, pairs with nothing: a count.
  held_.fetch_sub(magazine_bytes(index), std::memory_order_relaxed);
  return taken;
}

bool frame_depot::reserve(std::size_t bytes) noexcept {
  // ORDER: relaxed, pairs with nothing: a count.
  if (held_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit()) return true;
  held_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void frame_depot::leave(kept_frame* full, std::size_t index) noexcept {
  if (!reserve(magazine_bytes(index))) return free_frames(full, index);
  shelf& to = shelves_[index];
  kept_frame* const rest = full->next;
  locked guard(to.lock);
  to.top = ::new (static_cast<void*>(full)) magazine{{rest}, to.top};
}

std::size_t frame_depot::trim() noexcept {
  std::size_t released = 0;
  for (std::size_t index = 1; index <= frame_classes; ++index) {
    while (kept_frame* full = take(index)) {
      free_frames(full, index);
      released += magazine_bytes(index);
    }
  }
  return released;
}

}  // namespace hocket::inline HOCKET_ABI::detail
