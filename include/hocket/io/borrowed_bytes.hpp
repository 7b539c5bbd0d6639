// Bytes of a stream in memory that the reader borrows: the result of stream::read_borrowed().
//
//   while (true) {
//     borrowed_bytes bytes = co_await or_return(peer.read_borrowed());   // no buffer while it waits
//     if (bytes.empty()) break;                                          // the end of the stream
//     handle(bytes.text());
//   }                                                                    // returns the memory
#pragma once
#include <hocket/io/detail/lending.hpp>
#include <string_view>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
struct borrow_operation;
}  // namespace detail

// Holds borrowed bytes until its destruction or release(). Any thread may move and destroy it.
class borrowed_bytes {
 public:
  borrowed_bytes() noexcept = default;
  borrowed_bytes(borrowed_bytes&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  borrowed_bytes& operator=(borrowed_bytes&& other) noexcept {
    borrowed_bytes old(std::move(*this));
    block_ = std::exchange(other.block_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~borrowed_bytes() { release(); }

  std::byte* data() const noexcept { return block_ ? block_->bytes() : nullptr; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data()), size_}; }

  // Returns the memory early and leaves this object empty.
  void release() noexcept {
    size_ = 0;
    if (block_) detail::lending::give_back(*std::exchange(block_, nullptr));
  }

 private:
  friend struct detail::borrow_operation;
  borrowed_bytes(detail::lent_block* block, std::size_t size) noexcept : block_(block), size_(size) {}

  detail::lent_block* block_ = nullptr;
  std::size_t size_ = 0;
};

}}  // namespace hocket
