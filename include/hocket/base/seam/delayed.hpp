// An object that is made later, in its place: what the headers on the way of every wait need of std::optional, for a
// third of its parse time.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Not thread safe. Neither copied nor moved.
template <class T>
class delayed {
 public:
  delayed() noexcept {}
  delayed(const delayed&) = delete;
  delayed& operator=(const delayed&) = delete;
  ~delayed() { reset(); }

  // There is none yet.
  template <class... Args>
  T& emplace(Args&&... args) {
    T* made = ::new (static_cast<void*>(&object_)) T(std::forward<Args>(args)...);
    made_ = true;
    return *made;
  }
  void reset() noexcept {
    if (std::exchange(made_, false)) object_.~T();
  }

  explicit operator bool() const noexcept { return made_; }
  T& operator*() noexcept { return object_; }
  T* operator->() noexcept { return &object_; }

 private:
  union {
    T object_;
  };
  bool made_ = false;
};

}}}  // namespace hocket::detail
