// The bytes of answers that wait to be sent, in memory of frames.
//
// The first block has 2 KB, the largest size that frame memory caches. So a connection that answers small requests
// allocates nothing after its thread has warmed up. A larger answer moves the bytes into a block of at least twice the
// size. clear() keeps the first block and frees a larger one.
//
// Access: the connection's job or coroutine, whichever has the connection.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class output {
 public:
  static constexpr std::size_t first_block = 2048;

  output() noexcept = default;
  output(const output&) = delete;
  output& operator=(const output&) = delete;
  ~output() { release(); }

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  std::string_view bytes() const noexcept { return {data_, size_}; }

  // Returns room for `count` bytes behind the last byte. Throws std::bad_alloc; then nothing has changed.
  char* prepare(std::size_t count) {
    if (capacity_ - size_ < count) grow(count);
    return data_ + size_;
  }
  // Adds the first `count` bytes of prepare().
  void commit(std::size_t count) noexcept { size_ += count; }
  void append(std::string_view text) {
    if (text.empty()) return;
    std::memcpy(prepare(text.size()), text.data(), text.size());
    commit(text.size());
  }
  // Drops the first `count` bytes.
  void drop(std::size_t count) noexcept {
    if (count == 0) return;
    size_ -= count;
    std::memmove(data_, data_ + count, size_);
  }
  // Drops the bytes behind the first `count` bytes.
  void truncate(std::size_t count) noexcept { size_ = count; }
  void clear() noexcept {
    size_ = 0;
    if (capacity_ > first_block) release();
  }

 private:
  void grow(std::size_t count);
  void release() noexcept;

  char* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}}}}  // namespace hocket::http::detail
