// A pointer of one thread, at which others may look: reading and writing it is a plain move, and no data race. What it
// points to is not published by it: who looks may compare it, and must know otherwise whether it is still there.
#pragma once
#include <hocket/base/platform/config.hpp>

namespace hocket::inline HOCKET_ABI {

template <class T>
class visible_pointer {
 public:
  constexpr visible_pointer() noexcept = default;
  constexpr visible_pointer(T* to) noexcept : to_(to) {}
  visible_pointer(const visible_pointer& other) noexcept : to_(other.get()) {}
  visible_pointer& operator=(const visible_pointer& other) noexcept { return *this = other.get(); }
  visible_pointer& operator=(T* to) noexcept {
    __atomic_store_n(&to_, to, __ATOMIC_RELAXED);
    return *this;
  }

  // Its thread, or any other.
  T* get() const noexcept { return __atomic_load_n(&to_, __ATOMIC_RELAXED); }
  operator T*() const noexcept { return get(); }
  T* operator->() const noexcept { return get(); }

 private:
  T* to_ = nullptr;
};

}  // namespace hocket::inline HOCKET_ABI
