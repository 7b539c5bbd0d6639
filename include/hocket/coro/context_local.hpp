// context_local<T>: a value that a piece of code has, and everything that it calls, awaits and spawns.
//
//   context_local<std::string> trace_id;                       // usually static; here nothing is bound
//
//   co_await trace_id.with(header.id, serve(request));         // in a task: while that one runs
//   trace_id.with(header.id, [&] { serve(request); });         // in a fiber or a thread: a callable runs at once
//
//   if (const std::string* id = trace_id.get()) log(*id);      // anywhere below, in both kinds
//
// with() binds a value for as long as what it is given runs, and gives what that gives. Bindings nest: the innermost
// one is seen. The value is constant, because coroutines on several threads may see it; for one that changes bind a
// pointer or an atomic.
//
// Inheritance. Whatever is called or awaited inside sees the binding. A coroutine that is spawned inside has it, too,
// on whatever target, for its whole life: the value is shared and counted, and lives until the last one that has it is
// gone (and is then destroyed on that one's thread, perhaps after it was joined). It is not the spawned coroutine's
// parent that counts, but the code that says `spawn`. The body of a shared_task belongs to nobody who awaits it, and
// has no bindings. A generator's body sees those of whoever takes a value from it. An eager_task
// that is begun inside must end inside. The context_local itself outlives all who have a value of it: make it static.
//
// A callable that returns a task, or anything else that does nothing until it is awaited, is called, kept and awaited,
// as by invoke(): write the co_await in front.
//
// fiber_local (fiber/fiber_local.hpp) is the other thing: a variable of which every fiber has its own, inherited by
// none. Cost. A lookup walks the bindings in force, innermost first; where there are none it is a look at the context.
// with() allocates the value, and for a task a frame and a context. A spawn inside copies one counted pointer; outside,
// as waits, switches and calls everywhere, it pays nothing. Model: ScopedValue of Java, task_local of tokio.
#pragma once
#include <hocket/coro/shielded.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

template <class T>
class bound_value final : public context_binding {
 public:
  bound_value(const void* key, binding_ptr outer, T&& bound)
      : context_binding(key, std::move(outer),
                        [](context_binding& self) noexcept { delete static_cast<bound_value*>(&self); }),
        value(std::move(bound)) {}
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { release_frame(memory, bytes); }

  const T value;
};

// What code inherits from `outer` that has one value more.
template <class T>
inheritance with_binding(const context& outer, const void* key, T&& value) {
  return {outer.stop(), outer.deadline(), binding_ptr(*new bound_value<T>(key, outer.bindings(), std::move(value)))};
}

template <class R, class T, class A>
task<R> await_with(const void* key, T value, kept_awaitable<A> what) {
  context& outer = current_context();
  context_entry entry(context::child_with(outer, with_binding(outer, key, std::move(value))));
  co_await entry;
  co_return co_await what.get();
}
template <class R, class T, class Call>
task<R> call_with(const void* key, T value, Call call) {
  context& outer = current_context();
  context_entry entry(context::child_with(outer, with_binding(outer, key, std::move(value))));
  co_await entry;
  if constexpr (Call::may_leave_temporaries) {  // by a default argument
    co_return co_await std::get<0>(std::move(call.parts()))();
  } else {
    auto body = call();
    co_return co_await std::move(body);
  }
}

}  // namespace detail

template <class T>
class context_local {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> && !std::is_const_v<T>,
                "context_local<T>: T is an object type, constant where it is seen: bind a pointer to what changes");
  static_assert(detail::fits_frame<T>, "context_local<T>: an over-aligned type: bind a std::unique_ptr");

 public:
  using value_type = T;

  constexpr context_local() noexcept = default;
  context_local(const context_local&) = delete;
  context_local& operator=(const context_local&) = delete;

  // What the running code has; null if nothing is bound. Valid while that code runs.
  const T* get() const noexcept {
    for (const detail::context_binding* at = current_context().bindings().get(); at; at = at->outer())
      if (at->key() == this) return std::addressof(static_cast<const detail::bound_value<T>*>(at)->value);
    return nullptr;
  }
  // The same, where a value must be bound; fatal if not.
  const T& operator*() const noexcept {
    const T* bound = get();
    detail::expects(bound != nullptr, "a context_local was used to which nothing is bound",
                    "bind a value with with(), around this code, or ask get()", current_context().name());
    return *bound;
  }
  const T* operator->() const noexcept { return &**this; }

  // `value` is what `what` has, and everything that it calls, awaits and spawns. See above.
  template <awaitable A>
  [[nodiscard]] auto with(T value, A&& what) const {
    using R = typename detail::sync_result<await_result_t<A>>::type;
    return detail::await_with<R, T, A>(this, std::move(value), detail::kept_awaitable<A>(std::forward<A>(what)));
  }
  template <detail::calls_awaitable F>
  [[nodiscard]] auto with(T value, F&& body) const {
    using call = detail::spawned_call_for<F>;
    using R = detail::awaited_of_t<F>;
    return detail::call_with<R, T, call>(this, std::move(value), call(std::forward<F>(body)));
  }
  template <detail::calls F>
    requires(!detail::calls_awaitable<F>)
  decltype(auto) with(T value, F&& body) const {
    detail::context_block block(detail::with_binding(current_context(), this, std::move(value)));
    return std::forward<F>(body)();
  }
};

}}  // namespace hocket
