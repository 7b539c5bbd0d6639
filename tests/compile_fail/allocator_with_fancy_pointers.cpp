// A frame is found by a plain address.
// expect: allocators with fancy pointers cannot hold a coroutine frame
#include <hocket/coro/task.hpp>

template <class T>
struct offset {
  long from_here;
};
template <class T>
struct segment {
  using value_type = T;
#ifdef SHOULD_FAIL
  using pointer = offset<T>;
#else
  using pointer = T*;
#endif
  segment() = default;
  template <class U>
  segment(const segment<U>&) {}
  pointer allocate(std::size_t);
  void deallocate(pointer, std::size_t);
};
hocket::task<int> in_segment(std::allocator_arg_t, segment<char>) { co_return 1; }
