// What is awaited, in the frame of a coroutine that was made to await it: given up with that coroutine if that never
// runs. `A` is an object, or an lvalue reference.
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/core/sync_wait.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class A>
class kept_awaitable {
 public:
  explicit kept_awaitable(A&& what) : what_(std::forward<A>(what)) {}
  kept_awaitable(kept_awaitable&& other) : what_(std::forward<A>(other.what_)) {}
  kept_awaitable& operator=(kept_awaitable&&) = delete;
  ~kept_awaitable() { give_up_awaitable<A>(what_); }

  A&& get() noexcept { return std::forward<A>(what_); }

 private:
  A what_;
};

}}}  // namespace hocket::detail
