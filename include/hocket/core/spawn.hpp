// spawn: starts a callable as a coroutine of its own.
//
//   auto h = spawn(lp, handle_request, std::ref(server), 7);            // on a loop, a runtime, a scope
//   spawn(lp, {.name = "login", .within = 3s}, login, session);
//   spawn(work);                                                        // where the caller itself was spawned
//   spawn_batch batch(rt);                                              // many at once: core/spawn_batch.hpp
//   for (auto& one : received) spawn(batch, handle, one);
//
// A callable that returns a task starts a task (include <hocket/coro/spawn.hpp>), any other a fiber
// (<hocket/fiber/spawn.hpp>). The callable and its arguments are stored by value: std::ref shows what is not. They are
// destroyed when the coroutine has ended, on its stack or frame; if it never began, where its end is noted. What a
// reference parameter refers to, if an argument is converted for it, lives as long (core/call_parameters.hpp).
//
// The coroutine is posted, never run inside spawn. Any thread may spawn. Dropping the handle gives up the result only:
// the target joins. Throws bad_alloc, and what copying and converting the arguments throws. What cannot be started (the
// target is shutting down, no stack can be had) is told by the handle. An exception that nobody can receive goes to the
// target's on_unhandled.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/core/awaitable.hpp>
#include <hocket/core/call_parameters.hpp>
#include <hocket/core/current.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/join_handle.hpp>
#include <hocket/core/spawn_target.hpp>
#include <optional>
#include <tuple>

namespace hocket::inline HOCKET_ABI {

class spawn_batch;

namespace detail {

// The target of the running coroutine; fatal where there is none.
spawn_target& current_target() noexcept;

template <class W>
spawn_target& target_of(W& where) noexcept {
  if constexpr (std::derived_from<W, spawn_target>) return where;
  else return where.as_spawn_target();
}

// The callable and the arguments of a spawn, until they are called.
template <class F, class... Args>
class spawned_call {
 public:
  template <class G, class... Given>
  explicit spawned_call(G&& f, Given&&... args)
      : call_(std::in_place, std::forward<G>(f), to_store<Args>(std::forward<Given>(args))...) {}

  using returned = std::invoke_result_t<F, Args...>;
  // Whether the call may leave temporaries behind to which a task refers that it returns. Then the expression of the
  // call is to live as long: coro/detail/awaited_call.hpp.
  static constexpr bool may_leave_temporaries = stored_call_of<F, Args...>::may_leave_temporaries;
  static constexpr std::size_t arguments = sizeof...(Args);
  static constexpr bool calls_member = std::is_member_pointer_v<F>;

  returned operator()() {
    return std::apply([](F& f, Args&... args) -> returned { return invoke(std::move(f), std::move(args)...); }, *call_);
  }
  void reset() noexcept { call_.reset(); }
  // The callable and the arguments, for who calls it otherwise.
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
  } room;
  auto* body = ::new (room.memory) Body(std::forward<Given>(args)...);
  room.memory = nullptr;
  return body;
}
template <class Body>
void dispose_spawned(context& self) noexcept {
  auto* body = static_cast<Body*>(&self);
  body->~Body();
  release_frame(body, sizeof(Body));
}

// What was refused gives up its callable at once. The start handle may need memory; without it the object is given up.
template <class Body>
void launch_spawned(Body& body, spawn_target&) {
  if (!body.enroll()) return body.drop_call();
  struct guard {
    Body* body;
    ~guard() {
      if (!body) return;
      body->withdraw();
      body->release();
    }
  } unless_started{&body};
  std::coroutine_handle<> start = body.start_handle();
  unless_started.body = nullptr;
  body.launch(start);
}

inline spawn_target& target_of_spawn(spawn_target& where) noexcept { return where; }

// Those of a batch (core/spawn_batch.hpp), declared before a kind's spawn uses them, in whatever order headers come.
inline spawn_target& target_of_spawn(spawn_batch& where) noexcept;
template <class Body>
void launch_spawned(Body& body, spawn_batch& batch);

// How a kind starts, on a spawn_target or in a spawn_batch: specialised by coro/spawn.hpp and fiber/spawn.hpp.
template <bool Task>
struct spawner {
  template <class... Ignored>
  static void start(Ignored&&...) {
    static_assert(sizeof...(Ignored) == 0,
                  "hocket: include <hocket/coro/spawn.hpp> to spawn a callable that returns a task, and "
                  "<hocket/fiber/spawn.hpp> to spawn any other");
  }
};

template <class F, class... Args>
concept spawnable = std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>;

template <class Where, class F, class... Args>
auto spawn_on(Where& where, const spawn_options& options, F&& f, Args&&... args) {
  using returned = std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>;
  return spawner<is_task<returned>>::start(where, options, std::forward<F>(f), std::forward<Args>(args)...);
}

}  // namespace detail

template <spawnable_on Where, class F, class... Args>
  requires detail::spawnable<F, Args...>
auto spawn(Where& where, F&& f, Args&&... args) {
  return detail::spawn_on(detail::target_of(where), {.at = {}}, std::forward<F>(f), std::forward<Args>(args)...);
}
template <spawnable_on Where, class F, class... Args>
  requires detail::spawnable<F, Args...>
auto spawn(Where& where, const spawn_options& options, F&& f, Args&&... args) {
  return detail::spawn_on(detail::target_of(where), options, std::forward<F>(f), std::forward<Args>(args)...);
}
template <class F, class... Args>
  requires detail::spawnable<F, Args...>
auto spawn(F&& f, Args&&... args) {
  return detail::spawn_on(detail::current_target(), {.at = {}}, std::forward<F>(f), std::forward<Args>(args)...);
}
template <class F, class... Args>
  requires detail::spawnable<F, Args...>
auto spawn(const spawn_options& options, F&& f, Args&&... args) {
  return detail::spawn_on(detail::current_target(), options, std::forward<F>(f), std::forward<Args>(args)...);
}

}  // namespace hocket::inline HOCKET_ABI
