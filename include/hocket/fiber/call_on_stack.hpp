// call_on_stack: a call that runs on another stack, from a small one.
//
//   int n = call_on_big_stack([&] { return parse(document); });       // 8 MiB of address space, paid for when touched
//
//   stack_pool own({.stack_size = 1 << 20});                     // or a stack of one's own
//   auto stack = own.acquire();
//   if (!stack) return stack.error();
//   int n = call_on_stack(*stack, parse, std::ref(document));
//   own.release(*stack);
//
// For deep recursions and foreign libraries that want more stack than a fiber has. The caller waits on its stack until
// the call returns; results and exceptions pass, a kill unwinds both. The call may suspend its fiber, which then parks
// with both stacks, and calls nest. A plain thread may call, too. In a task the call must not suspend: there is no
// stack to park.
//
// Costs two switches of stacks and whatever the stack takes. Nothing is allocated, except by a thread that had to do
// with no fiber before: for that it may throw bad_alloc. No two calls at once on one stack.
#pragma once
#include <hocket/core/detail/return_slot.hpp>
#include <hocket/stack/stack_pool.hpp>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

class scheduled;

// Runs `run(body)` on `stack`; throws what it threw.
void call_on(const stack_ref& stack, void (*run)(void* body), void* body);

// While it lives the fiber that runs here, if any, stays on this thread, also if it is migratable.
class stay_here {
 public:
  stay_here() noexcept;
  stay_here(const stay_here&) = delete;
  stay_here& operator=(const stay_here&) = delete;
  ~stay_here();

 private:
  scheduled* self_;
  bool migrated_;
};

// A stack of the thread's pool of big ones, for one call. Throws std::system_error if there is none.
class big_stack {
 public:
  big_stack();
  big_stack(const big_stack&) = delete;
  big_stack& operator=(const big_stack&) = delete;
  ~big_stack();
  const stack_ref& get() const noexcept { return stack_; }

 private:
  stay_here stay_;
  stack_pool& pool_;
  stack_ref stack_;
};

}  // namespace detail

// Returns f(args...), called on `stack`, an acquired stack that nothing else runs on.
template <class F, class... Args>
  requires std::is_invocable_v<F, Args...>
std::invoke_result_t<F, Args...> call_on_stack(const stack_ref& stack, F&& f, Args&&... args) {
  using R = std::invoke_result_t<F, Args...>;
  static_assert(!std::is_rvalue_reference_v<R>,
                "hocket: call_on_stack: f returns a value, an lvalue reference or void");
  detail::return_slot<R> result;
  auto body = [&] {
    if constexpr (std::is_void_v<R>) {
      std::forward<F>(f)(std::forward<Args>(args)...);
      result.set_value();
    } else {
      result.set_value(std::forward<F>(f)(std::forward<Args>(args)...));
    }
  };
  detail::call_on(stack, [](void* given) { (*static_cast<decltype(body)*>(given))(); }, &body);
  return result.take();
}

// The same on a stack of 8 MiB, which the thread keeps for the next call.
template <class F, class... Args>
  requires std::is_invocable_v<F, Args...>
std::invoke_result_t<F, Args...> call_on_big_stack(F&& f, Args&&... args) {
  detail::big_stack stack;
  return call_on_stack(stack.get(), std::forward<F>(f), std::forward<Args>(args)...);
}

}}  // namespace hocket
