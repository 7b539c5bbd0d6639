// call_on_stack: a call that runs on another, larger stack.
//
//   int n = call_on_big_stack([&] { return parse(document); });  // 8 MiB of address space, memory only when touched
//
//   stack_pool own({.stack_size = 1 << 20});                     // or a stack of your own
//   auto stack = own.acquire();
//   if (!stack) return stack.error();
//   int n = call_on_stack(*stack, parse, std::ref(document));
//   own.release(*stack);
//
// Use it for deep recursions and for foreign libraries that need more stack than a fiber has.
//
// Guarantees.
// - The caller waits on its own stack until the call returns. Results and exceptions pass. A kill unwinds both stacks.
// - The call may suspend its fiber, which then parks with both stacks. Calls nest.
// - A plain thread may call, too.
//
// Do not suspend in the call if the caller is a task: a task has no stack to park. Do not run two calls on one stack at
// once.
//
// Cost. Two switches of stacks and the acquisition of the stack. Nothing is allocated, except by a thread that has run
// no fiber before.
// Errors. In such a thread the call may throw std::bad_alloc.
#pragma once
#include <hocket/core/spawn/seam/return_slot.hpp>
#include <hocket/stack/stack_pool.hpp>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

class scheduled;

// Calls run(body) on `stack`, and rethrows its exception.
void call_on(const stack_ref& stack, void (*run)(void* body), void* body);

// Keeps the running fiber, if any, on its thread, even if the fiber is migratable.
class thread_pin {
 public:
  thread_pin() noexcept;
  thread_pin(const thread_pin&) = delete;
  thread_pin& operator=(const thread_pin&) = delete;
  ~thread_pin();

 private:
  scheduled* self_;
  bool migrated_;
};

// A stack of the thread's pool of big stacks, for one call. Throws std::system_error if there is no stack.
class big_stack {
 public:
  big_stack();
  big_stack(const big_stack&) = delete;
  big_stack& operator=(const big_stack&) = delete;
  ~big_stack();
  const stack_ref& get() const noexcept { return stack_; }

 private:
  thread_pin pin_;
  stack_pool& pool_;
  stack_ref stack_;
};

}  // namespace detail

// Calls f(args...) on `stack` and returns its result. `stack` is acquired, and nothing else runs on it.
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
  detail::call_on(stack, [](void* argument) { (*static_cast<decltype(body)*>(argument))(); }, &body);
  return result.take();
}

// Like call_on_stack(), on a stack of 8 MiB that the thread keeps for the next call.
template <class F, class... Args>
  requires std::is_invocable_v<F, Args...>
std::invoke_result_t<F, Args...> call_on_big_stack(F&& f, Args&&... args) {
  detail::big_stack stack;
  return call_on_stack(stack.get(), std::forward<F>(f), std::forward<Args>(args)...);
}

}}  // namespace hocket
