#include "core/thread/frame_list.hpp"

#include <hocket/base/memory_source.hpp>
#include <hocket/core/frame_memory.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constinit frame_list frame_lists[frame_list_count];

namespace {

constexpr bool lists_frames = debug_checks && recycles_frames;

std::uintptr_t hidden(const frame_link* link) noexcept { return ~reinterpret_cast<std::uintptr_t>(link); }
frame_link* shown(std::uintptr_t link) noexcept { return reinterpret_cast<frame_link*>(~link); }

frame_list& list_of(const frame_link* link) noexcept {
  return frame_lists[(reinterpret_cast<std::uintptr_t>(link) >> 12) % frame_list_count];
}

void link_first(frame_list& list, frame_link& link) noexcept {
  const locked guard(list.lock);
  link = {list.first, hidden(nullptr)};
  if (frame_link* next = shown(link.next)) next->previous = hidden(&link);
  list.first = hidden(&link);
}

void unlink(frame_list& list, const frame_link& link) noexcept {
  const locked guard(list.lock);
  frame_link* const previous = shown(link.previous);
  (previous ? previous->next : list.first) = link.next;
  if (frame_link* next = shown(link.next)) next->previous = link.previous;
}

}  // namespace

void* new_frame(std::size_t bytes) {
  if constexpr (!lists_frames) return source_allocate_or_throw(bytes, frame_alignment);
  auto* const link = ::new (source_allocate_or_throw(sizeof(frame_link) + bytes, frame_alignment)) frame_link;
  link_first(list_of(link), *link);
  return link + 1;
}

void delete_frame(void* frame, std::size_t bytes) noexcept {
  if constexpr (!lists_frames) return source_release(frame, bytes, frame_alignment);
  frame_link* const link = static_cast<frame_link*>(frame) - 1;
  unlink(list_of(link), *link);
  source_release(link, sizeof(frame_link) + bytes, frame_alignment);
}

}}}  // namespace hocket::detail
