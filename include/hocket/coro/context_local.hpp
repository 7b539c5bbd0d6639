// context_local<T>: a value for a piece of code and everything that it calls, awaits and spawns.
//
//   context_local<std::string> trace_id;                       // usually static; here nothing is bound
//
//   co_await trace_id.with(header.id, serve(request));         // in a task: while serve() runs
//   trace_id.with(header.id, [&] { serve(request); });         // in a fiber or a thread: a callable runs at once
//
//   if (const std::string* id = trace_id.get()) log(*id);      // anywhere below, in both kinds
//
// with() binds a value while its argument runs, and gives the argument's result. Bindings nest: the innermost is
// visible. The value is constant, because coroutines on several threads may read it. For a value that changes, bind a
// pointer or an atomic.
//
// Arguments. A callable that returns a task, or anything else that does nothing until it is awaited, is called, kept
// and awaited, as by invoke(): write the co_await in front.
//
// Inheritance.
//   - Code that is called or awaited inside sees the binding.
//   - A coroutine that is spawned inside, on any target, has the binding for its whole life. The code that calls spawn
//     counts, not the parent of the spawned coroutine.
//   - The value is reference-counted. Its last holder destroys it on the holder's thread, perhaps after the holder was
//     joined.
//   - The body of a shared_task belongs to none of its awaiters, and sees none of their bindings. After start(target)
//     it sees the bindings of the target's context, such as a scope's.
//   - The body of a generator sees the bindings of the code that takes a value from it.
//
// Do not.
//   - An eager_task that begins inside must end inside.
//   - A context_local must outlive all holders of its values: make it static.
//
// Different: fiber_local (fiber/fiber_local.hpp) is a variable that each fiber has for itself, and that no fiber
// inherits.
//
// Cost. A lookup walks the current bindings, innermost first; without bindings, it only reads the context. with()
// allocates the value, and for a task a frame and a context. A spawn inside copies one counted pointer. A spawn
// outside, and waits, switches and calls everywhere, pay nothing.
//
// Source. ScopedValue of Java, task_local of tokio.
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

// The bindings of `outer` with one more value, and its stop and deadline.
template <class T>
inheritance with_binding(const context& outer, const void* key, T&& value) {
  return {outer.stop(), outer.deadline(), binding_ptr(*new bound_value<T>(key, outer.bindings(), std::move(value)))};
}

template <class R, class T, class A>
task<R> await_with(const void* key, T value, kept_awaitable<A> awaited) {
  context& outer = current_context();
  context_entry entry(context::child_with(outer, with_binding(outer, key, std::move(value))));
  co_await entry;
  co_return co_await awaited.get();
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

// A value for a piece of code; see above.
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

  // The value of the running code; null if nothing is bound. Valid while that code runs.
  const T* get() const noexcept {
    for (const detail::context_binding* i = current_context().bindings().get(); i; i = i->outer())
      if (i->key() == this) return std::addressof(static_cast<const detail::bound_value<T>*>(i)->value);
    return nullptr;
  }
  // The same for code that needs a value. Fatal if nothing is bound.
  const T& operator*() const noexcept {
    const T* bound = get();
    detail::expects(bound != nullptr, "a context_local was used to which nothing is bound",
                    "bind a value with with(), around this code, or ask get()", current_context().name());
    return *bound;
  }
  const T* operator->() const noexcept { return &**this; }

  // Binds `value` for the argument, and for everything that it calls, awaits and spawns. See above.
  template <awaitable A>
  [[nodiscard]] auto with(T value, A&& awaited) const {
    using R = typename detail::sync_result<await_result_t<A>>::type;
    return detail::await_with<R, T, A>(this, std::move(value), detail::kept_awaitable<A>(std::forward<A>(awaited)));
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
