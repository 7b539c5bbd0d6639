// The callable and the arguments of a spawn, until the call, and the memory of the object that holds them. Spawned
// coroutines (core/spawn/seam/spawn.hpp) and jobs (core/post.hpp) share it.
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/spawn/detail/call_parameters.hpp>
#include <hocket/core/spawn_target.hpp>
#include <optional>
#include <tuple>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class W>
spawn_target& target_of(W& target) noexcept {
  if constexpr (std::derived_from<W, spawn_target>) return target;
  else return target.as_spawn_target();
}

template <class F, class... Args>
concept spawnable = std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>;

// The callable and the arguments of a spawn, until they are called.
template <class F, class... Args>
class spawned_call {
 public:
  template <class G, class... Given>
  explicit spawned_call(G&& f, Given&&... args)
      : call_(std::in_place, std::forward<G>(f), to_store<Args>(std::forward<Given>(args))...) {}

  using returned = std::invoke_result_t<F, Args...>;
  // Whether the call may create temporaries to which the returned task refers. Then the expression of the call must
  // live as long: coro/detail/awaited_call.hpp.
  static constexpr bool may_leave_temporaries = stored_call_of<F, Args...>::may_leave_temporaries;
  static constexpr std::size_t arguments = sizeof...(Args);
  static constexpr bool calls_member = std::is_member_pointer_v<F>;

  returned operator()() {
    return std::apply([](F& f, Args&... args) -> returned { return invoke(std::move(f), std::move(args)...); }, *call_);
  }
  void reset() noexcept { call_.reset(); }
  // The callable and the arguments, for another form of call.
  std::tuple<F, Args...>& parts() noexcept { return *call_; }

 private:
  template <class... Given>
  static returned invoke(F&& f, Given&&... args) {
    if constexpr (std::is_member_pointer_v<F>) return std::apply(f, std::forward_as_tuple(std::move(args)...));
    else return std::move(f)(std::move(args)...);
  }
  std::optional<std::tuple<F, Args...>> call_;
};

// The call of an F, of any value category, with such arguments.
template <class F, class Stored>
struct spawned_call_of;
template <class F, class... Stored>
struct spawned_call_of<F, std::tuple<Stored...>> {
  using type = spawned_call<F, Stored...>;
};
template <class F, class... Args>
using spawned_call_for =
    typename spawned_call_of<std::decay_t<F>, typename stored_call_of<std::decay_t<F>, Args...>::types>::type;

// The object of a spawn, from the memory of frames.
template <class Body, class... Given>
Body* make_spawned(Given&&... args) {
  static_assert(fits_frame<Body>, "hocket: an over-aligned callable or argument: pass it by std::unique_ptr");
  struct raw {
    void* memory = allocate_frame(sizeof(Body));
    ~raw() {
      if (memory) release_frame(memory, sizeof(Body));
    }
  } holder;
  auto* body = ::new (holder.memory) Body(std::forward<Given>(args)...);
  holder.memory = nullptr;
  return body;
}
template <class Body>
void dispose_spawned(context& self) noexcept {
  auto* body = static_cast<Body*>(&self);
  body->~Body();
  release_frame(body, sizeof(Body));
}

}}}  // namespace hocket::detail
