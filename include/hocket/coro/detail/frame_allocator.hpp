// Frame memory (core/frame_memory.hpp) as an allocator of the standard: for arrays that live as long as a wait.
#pragma once
#include <hocket/core/frame_memory.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T>
struct frame_allocator {
  using value_type = T;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "frame memory has the alignment of operator new");

  frame_allocator() noexcept = default;
  template <class U>
  frame_allocator(const frame_allocator<U>&) noexcept {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_frame(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept { release_frame(memory, count * sizeof(T)); }
  friend bool operator==(const frame_allocator&, const frame_allocator&) noexcept { return true; }
};

}}}  // namespace hocket::detail
