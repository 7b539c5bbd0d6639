// Pointers and storage of an operation: a pointer to an object of the awaiting coroutine, used before and after the
// wait, and storage for an item within the operation.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A pointer to an object of the coroutine, which uses it only while it runs. It is stored inverted: a stack that is
// moved away while its fiber waits must stay if an operation shows one of its addresses to other code
// (fiber/await.hpp).
template <class T>
class own_pointer {
 public:
  own_pointer() noexcept = default;
  explicit own_pointer(T* object) noexcept : hidden_(~reinterpret_cast<std::uintptr_t>(object)) {}
  T* get() const noexcept { return reinterpret_cast<T*>(~hidden_); }

 private:
  std::uintptr_t hidden_ = ~std::uintptr_t{0};
};

// The operation copies such an item at the call, so the caller's object may end before the await.
template <class T>
inline constexpr bool is_small_item =
    std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> && sizeof(T) <= 32;

// Storage in an operation for an item that the user of the storage constructs and destroys. Whole words, initialised:
// see core/wait/detail/op_flag.hpp.
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
