#include <hocket/core/frame_memory.hpp>
#include <hocket/http/detail/arena.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

void* arena::allocate(std::size_t bytes) {
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  if (size <= free_bytes_) {
    free_bytes_ -= size;
    return std::exchange(free_, free_ + size);
  }
  if (size > block_size / 4) return add_block(size);  // the newest block stays in use
  char* const memory = add_block(block_size);
  free_ = memory + size;
  free_bytes_ = block_size - size;
  return memory;
}

char* arena::add_block(std::size_t bytes) {
  const std::size_t size = sizeof(block) + bytes;
  void* const memory = hocket::detail::allocate_frame(size);
  blocks_ = ::new (memory) block{blocks_, size};
  return static_cast<char*>(memory) + sizeof(block);
}

void arena::clear() noexcept {
  while (last_) {
    const cleanup newest = *last_;
    last_ = newest.previous;
    newest.run(newest.object);
  }
  while (blocks_) {
    block* const first = blocks_;
    blocks_ = first->next;
    hocket::detail::release_frame(first, first->size);
  }
  free_ = nullptr;
  free_bytes_ = 0;
}

}}}}  // namespace hocket::http::detail
