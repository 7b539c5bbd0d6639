// spawn: starts a callable as a coroutine of its own.
//
//   auto h = spawn(lp, handle_request, std::ref(server), 7);            // on a loop, a runtime, a scope
//   spawn(lp, {.name = "login", .within = 3s}, login, session);
//   spawn(work);                                                        // on the target of the running coroutine
//   spawn_batch batch(rt);                                              // many at once: core/spawn_batch.hpp
//   for (auto& request : received) spawn(batch, handle, request);
//
// A callable that returns a task starts a task (include <hocket/coro/spawn.hpp>), any other a fiber
// (<hocket/fiber/spawn.hpp>). The callable and its arguments are stored by value; std::ref marks a reference. They are
// destroyed at the end of the coroutine, on its stack or frame; if it never began, by the code that records its end. If
// an argument is converted for a reference parameter, the converted object lives as long
// (core/spawn/detail/call_parameters.hpp).
//
// The coroutine is posted, never run inside spawn. Any thread may spawn. Dropping the handle discards only the result:
// the target joins. Throws bad_alloc, and the exceptions of copying and converting the arguments. If the coroutine
// cannot start (the target shuts down, there is no stack), the handle reports the error. If no handle can receive an
// exception, it is passed to the target's on_unhandled.
//
// # Parts
//
// A *where* returns a *place*, which exists during one spawn: a direct_place for a spawn_target and objects that lead
// to one, places of their own for a batch and a task_manager. The *kind* makes a `scheduled` for the place's target,
// and its start handle. Then the place takes the child:
//
//   place.target()                       the spawn_target: gives the context, counts the coroutine
//   place.options()                      the spawn_options
//   place.admit(child)                   false: the target refuses; then only handle_of() follows
//   place.accept(child, start)           posts it, or collects it
//   place.take_back(child)               instead of accept(), if the start handle threw
//   place.handle_of(child)               the handle that spawn() returns
//
// A where with a place of its own has a member `place(options)`, and names the type of its options `placed_with`.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/core/awaitable.hpp>
#include <hocket/core/join_handle.hpp>
#include <hocket/core/spawn/detail/spawned_call.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// The target of the running coroutine; fatal without one.
spawn_target& current_target() noexcept;

// The place of a spawn that is posted at once. The address of the caller of spawn() is taken in launch(), so accept()
// is always a part of that caller.
class direct_place {
 public:
  // Throws bad_alloc for a daemon.
  direct_place(spawn_target& target, const spawn_options& options)
      : target_(options.daemon ? target.daemons() : target), options_(options) {}
  spawn_target& target() const noexcept { return target_; }
  const spawn_options& options() const noexcept { return options_; }
  [[nodiscard]] bool admit(scheduled& child) noexcept { return child.enroll(); }
  [[HOCKET_ALWAYS_INLINE]] void accept(scheduled& child, std::coroutine_handle<> start) noexcept {
    child.launch(start);
  }
  void take_back(scheduled& child) noexcept { child.withdraw(); }
  template <class T>
  join_handle<T> handle_of(scheduled_result<T>& child) noexcept {
    return join_handle<T>(child);
  }

 private:
  spawn_target& target_;
  const spawn_options& options_;
};

template <class W>
concept has_place = requires(W& where, const typename W::placed_with& options) { where.place(options); };

// The options of a spawn on W.
template <class W>
struct placed_with {
  using type = spawn_options;
};
template <has_place W>
struct placed_with<W> {
  using type = typename W::placed_with;
};
template <class W>
using options_in = typename placed_with<std::remove_cvref_t<W>>::type;

template <class W>
concept spawns_in = has_place<W> || spawnable_on<W>;

template <class W>
auto place_in(W& where, const options_in<W>& options) {
  if constexpr (has_place<W>) return where.place(options);
  else return direct_place(target_of(where), options);
}

// The type of the spawned object, by kind and by the type of the call. coro/spawn.hpp and fiber/spawn.hpp specialise
// it.
template <bool Task, class Call>
struct spawned_as {
  static_assert(sizeof(Call) == 0,
                "hocket: include <hocket/coro/spawn.hpp> to spawn a callable that returns a task, and "
                "<hocket/fiber/spawn.hpp> to spawn any other");
};

// The start handle may need memory; without it the object is released.
template <class Place, class Body>
[[HOCKET_ALWAYS_INLINE]] inline void start_spawned(Place& place, Body& body) {
  struct guard {
    Place& place;
    Body* body;
    ~guard() {
      if (!body) return;
      place.take_back(*body);
      body->release();
    }
  } unless_started{place, &body};
  const std::coroutine_handle<> start = body.start_handle();
  unless_started.body = nullptr;
  place.accept(body, start);
}

// If the target refuses, the callable and its arguments are destroyed at once.
template <class Place, class F, class... Args>
auto spawn_in(Place& place, F&& f, Args&&... args) {
  using call = spawned_call_for<F, Args...>;
  using body = typename spawned_as<is_task<typename call::returned>, call>::type;
  body* const child =
      make_spawned<body>(place.target(), place.options(), std::forward<F>(f), std::forward<Args>(args)...);
  if (place.admit(*child)) start_spawned(place, *child);
  else child->drop_call();
  return place.handle_of(*child);
}

// A right or wrong call of a callable. A function without a target takes only these, so that a program's own function
// of the same name is left alone.
template <class F, class... Args>
concept meant_as_call =
    spawnable<F, Args...> || std::is_invocable_v<F, Args...> || is_task<std::remove_cvref_t<F>> ||
    std::is_function_v<std::remove_pointer_t<std::decay_t<F>>> || std::is_member_pointer_v<std::decay_t<F>>;

// The options of another where.
template <class F>
inline constexpr bool is_options = requires(F& options) { options.within, options.stack_size; };

// Whether a call can be made, and the message if not: one, with the remedy, and nothing after it.
template <class F, class... Args>
struct checked_call {
  static constexpr bool is_made = is_task<std::remove_cvref_t<F>>;
  static constexpr bool is_possible = spawnable<F, Args...>;
  static constexpr bool wants_reference = !is_possible && std::is_invocable_v<F, Args...>;
  static_assert(
      !is_made,
      "hocket: this task was made by a call: pass the callable and its arguments, (fetch, 7) and not (fetch(7))");
  static_assert(!wants_reference,
                "hocket: arguments are stored by value: pass std::ref(x) for a parameter T&, and let x live as long");
  static_assert(
      !is_options<std::remove_cvref_t<F>>,
      "hocket: these are the options of another target: a task_manager takes task_options, all others spawn_options");
  static_assert(is_made || wants_reference || is_possible || is_options<std::remove_cvref_t<F>>,
                "hocket: the callable cannot be called with these arguments, which are stored by value and then moved");
};

template <bool IsPossible, class Place, class F, class... Args>
auto spawn_if(Place place, F&& f, Args&&... args) {
  if constexpr (IsPossible) return spawn_in(place, std::forward<F>(f), std::forward<Args>(args)...);
  else return join_handle<>();
}

}  // namespace detail

template <detail::spawns_in Where, class F, class... Args>
  requires(!std::same_as<std::remove_cvref_t<F>, detail::options_in<Where>>)
auto spawn(Where& where, F&& f, Args&&... args) {
  const detail::options_in<Where> none{.location = {}};
  return detail::spawn_if<detail::checked_call<F, Args...>::is_possible>(
      detail::place_in(where, none), std::forward<F>(f), std::forward<Args>(args)...);
}
template <detail::spawns_in Where, class F, class... Args>
auto spawn(Where& where, const detail::options_in<Where>& options, F&& f, Args&&... args) {
  return detail::spawn_if<detail::checked_call<F, Args...>::is_possible>(
      detail::place_in(where, options), std::forward<F>(f), std::forward<Args>(args)...);
}
template <class F, class... Args>
  requires detail::meant_as_call<F, Args...>
auto spawn(F&& f, Args&&... args) {
  const spawn_options none{.location = {}};
  return detail::spawn_if<detail::checked_call<F, Args...>::is_possible>(
      detail::direct_place(detail::current_target(), none), std::forward<F>(f), std::forward<Args>(args)...);
}
template <class F, class... Args>
  requires detail::meant_as_call<F, Args...>
auto spawn(const spawn_options& options, F&& f, Args&&... args) {
  return detail::spawn_if<detail::checked_call<F, Args...>::is_possible>(
      detail::direct_place(detail::current_target(), options), std::forward<F>(f), std::forward<Args>(args)...);
}

}}  // namespace hocket
