// The bytes that a connection has read and not used yet, and the memory that holds them.
//
// # Memory
//
//   lent_    the block that read_idle() lent
//   own_     a block of this object, if the head of a request did not end in the lent block
//   behind_  a block for bytes of the body and of the next requests, while the head of the present request stays where
//            it is
//
// unread() lies in one of the three.
//
// # The head stays in its place
//
// The request refers to the bytes of its head until its answer is complete. So from the end of the head until
// finish_request() no byte before unread() moves, and no memory with such bytes is used again.
//
//   - Until the head is complete, extend() may move the bytes: nothing refers to them but offsets.
//   - Afterwards refill() reads bytes of the body into behind_, when unread() is empty.
//   - finish_request() frees the memory in which unread() does not lie.
//
// Access: the connection's job or coroutine, whichever has the connection, and the handler's while it reads the body.
#pragma once
#include <hocket/io/borrowed_bytes.hpp>
#include <hocket/io/buffer.hpp>
#include <cstddef>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class input {
 public:
  // The size of the first own block, and of behind_.
  static constexpr std::size_t small_block = 2048, large_block = std::size_t{16} * 1024;

  explicit input(borrowed_bytes&& first) noexcept : lent_(std::move(first)), unread_(lent_.text()) {}
  input(const input&) = delete;
  input& operator=(const input&) = delete;

  std::string_view unread() const noexcept { return unread_; }
  void consume(std::size_t bytes) noexcept { unread_.remove_prefix(bytes); }

  // Room behind unread(), while a head is incomplete. At most `max` bytes are unread. Throws std::bad_alloc.
  mutable_buffer extend(std::size_t max);
  // Room for more bytes, while the head stays in its place. unread() is empty. Throws std::bad_alloc.
  mutable_buffer refill();
  // `bytes` bytes were read into extend() or refill().
  void add(std::size_t bytes) noexcept { unread_ = {unread_.data(), unread_.size() + bytes}; }

  // Nothing refers to bytes before unread() any more.
  void finish_request() noexcept;

 private:
  // A block of frame memory or of the heap.
  class block {
   public:
    block() noexcept = default;
    explicit block(std::size_t size);
    block(block&& other) noexcept;
    block& operator=(block&& other) noexcept;
    ~block();
    char* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    bool holds(const char* byte) const noexcept { return data_ && byte >= data_ && byte <= data_ + size_; }

   private:
    char* data_ = nullptr;
    std::size_t size_ = 0;
  };

  borrowed_bytes lent_;
  block own_, behind_;
  std::string_view unread_;
};

}}}}  // namespace hocket::http::detail
