// The place of a forked child's result, in memory of its parent.
//
// The child writes it once. The parent reads it after the group has joined. A result that is not trivially destructible
// is marked as present, so that it is destroyed after the failure of a sibling.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <new>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Stored>
class fork_place {
 public:
  fork_place() noexcept {}
  template <class... Args>
  static void fill(void* place, Args&&... args) {
    ::new (place) Stored(std::forward<Args>(args)...);
  }
  Stored& value() noexcept { return value_; }

 private:
  union {
    Stored value_;
  };
};

template <class Stored>
  requires(!std::is_trivially_destructible_v<Stored>)
class fork_place<Stored> {
 public:
  fork_place() noexcept {}
  fork_place(const fork_place&) = delete;
  fork_place& operator=(const fork_place&) = delete;
  ~fork_place() {
    if (full_) value_.~Stored();
  }
  template <class... Args>
  static void fill(void* place, Args&&... args) {
    auto& target = *static_cast<fork_place*>(place);
    ::new (static_cast<void*>(std::addressof(target.value_))) Stored(std::forward<Args>(args)...);
    target.full_ = true;
  }
  Stored& value() noexcept { return value_; }

 private:
  union {
    Stored value_;
  };
  bool full_ = false;
};

}}}  // namespace hocket::detail
