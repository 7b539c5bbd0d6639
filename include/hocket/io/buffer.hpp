// Buffers of I/O operations: memory to read into, and memory to write from.
//
// A buffer is an address and a size in bytes. Any contiguous range with elements of one byte converts to it: an array,
// a std::array, a std::vector, a std::span of char, unsigned char or std::byte; for writing also text. A buffer owns
// nothing: the memory stays valid until the operation that uses the buffer is over.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

template <class T>
concept byte_like = std::is_same_v<std::remove_cv_t<T>, std::byte> || std::is_same_v<std::remove_cv_t<T>, char> ||
                    std::is_same_v<std::remove_cv_t<T>, unsigned char>;

template <class R>
concept bytes_of = requires(R& range) {
  { std::data(range) };
  { std::size(range) };
  requires byte_like<std::remove_pointer_t<decltype(std::data(range))>>;
};
template <class R>
concept writable_bytes_of =
    bytes_of<R> && !std::is_const_v<std::remove_pointer_t<decltype(std::data(std::declval<R&>()))>>;

}  // namespace detail

// Memory that an operation writes to.
class mutable_buffer {
 public:
  constexpr mutable_buffer() noexcept = default;
  mutable_buffer(void* data, std::size_t size) noexcept : data_(static_cast<std::byte*>(data)), size_(size) {}
  template <class R>
    requires(detail::writable_bytes_of<std::remove_reference_t<R>> &&
             !std::is_same_v<std::remove_cvref_t<R>, mutable_buffer>)
  mutable_buffer(R&& range) noexcept : mutable_buffer(std::data(range), std::size(range)) {}

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Memory that an operation reads from. A string literal counts without its terminating zero.
class const_buffer {
 public:
  constexpr const_buffer() noexcept = default;
  const_buffer(const void* data, std::size_t size) noexcept : data_(static_cast<const std::byte*>(data)), size_(size) {}
  const_buffer(const char* text) noexcept : const_buffer(text, std::char_traits<char>::length(text)) {}
  template <class R>
    requires(detail::bytes_of<const std::remove_reference_t<R>> &&
             !std::is_same_v<std::remove_cvref_t<R>, const_buffer> && !std::is_array_v<std::remove_reference_t<R>>)
  const_buffer(const R& range) noexcept : const_buffer(std::data(range), std::size(range)) {}
  template <detail::byte_like T, std::size_t N>
    requires(!std::is_same_v<std::remove_cv_t<T>, char>)
  const_buffer(T (&array)[N]) noexcept : const_buffer(array, N) {}

  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

template <class Buffer>
std::size_t size_of_all(std::span<Buffer> buffers) noexcept {
  std::size_t sum = 0;
  for (const auto& buffer : buffers) sum += buffer.size();
  return sum;
}

}  // namespace detail

}}  // namespace hocket
