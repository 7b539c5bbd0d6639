// delayed: an object that is constructed later. The part of std::optional that the headers of each wait need, for a
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

  // There must be no object.
  template <class... Args>
  T& emplace(Args&&... args) {
    T* created = ::new (static_cast<void*>(&object_)) T(std::forward<Args>(args)...);
    has_object_ = true;
    return *created;
  }
  void reset() noexcept {
    if (std::exchange(has_object_, false)) object_.~T();
  }

  explicit operator bool() const noexcept { return has_object_; }
  T& operator*() noexcept { return object_; }
  T* operator->() noexcept { return &object_; }

 private:
  union {
    T object_;
  };
  bool has_object_ = false;
};

}}}  // namespace hocket::detail
