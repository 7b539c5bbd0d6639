// What an operation refers to until it is awaited, and when its wait is over: an object of its coroutine. And what it
// has in itself of that.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// To an object of the coroutine, which looks at it only while it runs. Not kept as it is: a stack that is moved away
// while its fiber waits has to stay for every address of it that others are told (fiber/await.hpp), and for no other.
template <class T>
class own_pointer {
 public:
  own_pointer() noexcept = default;
  explicit own_pointer(T* object) noexcept : hidden_(~reinterpret_cast<std::uintptr_t>(object)) {}
  T* get() const noexcept { return reinterpret_cast<T*>(~hidden_); }

 private:
  std::uintptr_t hidden_ = ~std::uintptr_t{0};
};

// Copied into the operation at once, so that the object of the caller need not stay.
template <class T>
inline constexpr bool is_small_item =
    std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> && sizeof(T) <= 32;

// Room in an operation for such a copy, or for another item that its user constructs and destroys. Whole words, and not
// left as they are: see core/wait/detail/op_flag.hpp.
template <class T>
class item_storage {
 public:
  template <class U>
  void put(U&& item) noexcept {
    ::new (static_cast<void*>(bytes_)) T(std::forward<U>(item));
  }
  T& item() noexcept { return *std::launder(reinterpret_cast<T*>(bytes_)); }
  void clear() noexcept { item().~T(); }

 private:
  static constexpr std::size_t word = sizeof(std::uint64_t);
  alignas(T) alignas(word) std::byte bytes_[(sizeof(T) + word - 1) / word * word]{};
};

}}}  // namespace hocket::detail
