// What an operation refers to until it is awaited, and when its wait is over: an object of its coroutine.
#pragma once
#include <hocket/base/platform/config.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace hocket::inline HOCKET_ABI::detail {

// To an object of the coroutine, which looks at it only while it runs. Not kept as it is: a stack that is moved away
// while its fiber waits has to stay for every address of it that others are told (fiber/await.hpp), and for no other.
template <class T>
class own_pointer {
 public:
  own_pointer() noexcept = default;
  explicit own_pointer(T* to) noexcept : hidden_(~reinterpret_cast<std::uintptr_t>(to)) {}
  T* get() const noexcept { return reinterpret_cast<T*>(~hidden_); }

 private:
  std::uintptr_t hidden_ = ~std::uintptr_t{0};
};

// Copied into the operation at once, so that the object of the caller need not stay.
template <class T>
inline constexpr bool is_small_item =
    std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> && sizeof(T) <= 32;

// Such a copy, in whole words (core/op_flag.hpp).
template <class T>
class small_copy {
 public:
  explicit small_copy(const T& item) noexcept { ::new (static_cast<void*>(bytes_)) T(item); }
  T& get() noexcept { return *std::launder(reinterpret_cast<T*>(bytes_)); }

 private:
  static constexpr std::size_t word = sizeof(std::uint64_t);
  alignas(T) alignas(word) std::byte bytes_[(sizeof(T) + word - 1) / word * word]{};
};

}  // namespace hocket::inline HOCKET_ABI::detail
