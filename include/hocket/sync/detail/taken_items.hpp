// Items on their way from a channel to their receiver: moved or copied out under the inner mutex, and assigned after
// the unlock, because the destructor of a replaced object may run any code, also a call of the channel.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T>
class taken_items {
 public:
  static constexpr std::size_t capacity = sizeof(T) < 512 ? 512 / sizeof(T) : 1;  // on the receiver's stack

  taken_items() noexcept {}
  taken_items(const taken_items&) = delete;
  taken_items& operator=(const taken_items&) = delete;
  ~taken_items() {
    while (size_ != 0) first()[--size_].~T();
  }

  std::size_t size() const noexcept { return size_; }
  bool is_full() const noexcept { return size_ == capacity; }

  // Not if full.
  template <class From>
  void add(From&& item) {
    ::new (static_cast<void*>(first() + size_)) T(std::forward<From>(item));
    ++size_;
  }
  void assign_to(T* buffer) noexcept {
    for (std::size_t i = 0; i < size_; ++i) buffer[i] = std::move(first()[i]);
  }

 private:
  T* first() noexcept { return reinterpret_cast<T*>(memory_); }

  std::size_t size_ = 0;
  alignas(T) std::byte memory_[capacity * sizeof(T)];
};

}}}  // namespace hocket::detail
