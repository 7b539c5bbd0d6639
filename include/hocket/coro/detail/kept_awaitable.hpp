// An awaitable in the frame of the coroutine that will await it. If that coroutine never runs, the awaitable is
// discarded with it. `A` is an object, or an lvalue reference.
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/core/sync_wait.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class A>
class kept_awaitable {
 public:
  explicit kept_awaitable(A&& awaitable) : awaitable_(std::forward<A>(awaitable)) {}
  kept_awaitable(kept_awaitable&& other) : awaitable_(std::forward<A>(other.awaitable_)) {}
  kept_awaitable& operator=(kept_awaitable&&) = delete;
  ~kept_awaitable() { give_up_awaitable<A>(awaitable_); }

  A&& get() noexcept { return std::forward<A>(awaitable_); }

 private:
  A awaitable_;
};

}}}  // namespace hocket::detail
