// A pointer of one thread, at which others may look: reading and writing it is a plain move. What it points to is not
// published by it: who looks may compare it, and must know otherwise whether it is still there.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// An aligned word, moved whole by every processor. ThreadSanitizer sees a relaxed atomic; elsewhere it is volatile, for
// which g++ finds better instructions (a yield of a task takes four more with its relaxed atomics).
template <class T>
class visible_pointer {
 public:
  constexpr visible_pointer() noexcept = default;
  constexpr visible_pointer(T* to) noexcept : to_(to) {}
  visible_pointer(const visible_pointer& other) noexcept : to_(other.get()) {}
  visible_pointer& operator=(const visible_pointer& other) noexcept { return *this = other.get(); }
  visible_pointer& operator=(T* to) noexcept {
    if constexpr (seen_by_race_detector) __atomic_store_n(&to_, to, __ATOMIC_RELAXED);
    else const_cast<T* volatile&>(to_) = to;
    return *this;
  }

  // Its thread, or any other.
  T* get() const noexcept {
    if constexpr (seen_by_race_detector) return __atomic_load_n(&to_, __ATOMIC_RELAXED);
    else return const_cast<T* const volatile&>(to_);
  }
  operator T*() const noexcept { return get(); }
  T* operator->() const noexcept { return get(); }

 private:
  static constexpr bool seen_by_race_detector = sanitizer == sanitizer_kind::tsan;
  T* to_ = nullptr;
};

}}}  // namespace hocket::detail
