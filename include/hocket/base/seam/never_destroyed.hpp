// A variable of a function, static, that is made when it is first used and lives to the end of the process: others may
// use it after main(), from threads and destructors whose order nobody knows.
//
//   static never_destroyed<registry> one;
//   return *one;
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T>
class never_destroyed {
 public:
  template <class... Args>
  explicit never_destroyed(Args&&... args) : object_(::new (memory_) T(std::forward<Args>(args)...)) {}
  never_destroyed(const never_destroyed&) = delete;
  never_destroyed& operator=(const never_destroyed&) = delete;
  T& operator*() const noexcept { return *object_; }

 private:
  alignas(T) std::byte memory_[sizeof(T)];
  T* const object_;
};

}}}  // namespace hocket::detail
