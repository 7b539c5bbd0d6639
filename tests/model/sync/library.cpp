// What the sources under the model need of the rest of the library: frames from a heap that gives memory back only when
// the execution is over, so that a late use is the checker's to find.
#include <hocket/core/frame_memory.hpp>

#include "core/kept.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void* allocate_frame_slowly(frame_bins*, std::size_t bytes) {
  (void)hocket_test::detail::graveyard::get();
  return ::operator new(bytes);
}
void release_frame_slowly(frame_bins*, void* frame, std::size_t) noexcept {
  hocket_test::detail::graveyard::get().destroyed.push_back(frame);
}

// The same of frames that the depot has (core/frame_depot_test.cpp).
void* new_frame(std::size_t bytes) { return allocate_frame_slowly(nullptr, bytes); }
void delete_frame(void* frame, std::size_t bytes) noexcept { release_frame_slowly(nullptr, frame, bytes); }

}}}  // namespace hocket::detail
