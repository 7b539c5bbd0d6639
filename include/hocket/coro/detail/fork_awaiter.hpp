// The common part of the awaiters of forks: the concept forkable, and how a result is taken.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/coro/detail/fork_group.hpp>
#include <hocket/coro/task.hpp>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A task, or a callable that returns the task when the child begins.
template <class Source>
struct forked_task : std::invoke_result<Source&> {};
template <class T>
struct forked_task<task<T>> : std::type_identity<task<T>> {};
template <class Source>
concept forkable = requires { requires is_task<typename forked_task<Source>::type>; };
template <class Source>
using forked_value = typename forked_task<Source>::type::value_type;

// The part of the awaiter that does not depend on the children.
class fork_awaiter : public own_awaiter, protected fork_group {
 public:
  static constexpr bool await_ready() noexcept { return false; }

 protected:
  using fork_group::fork_group;

  template <class T>
  using stored = typename task_promise_base<T>::stored;

  // Takes the coroutine out of the task.
  template <class T>
  static handle begin_task(task<T>& child, void* place) {
    static_cast<void>(child.await_ready());  // fatal if it is empty
    const auto body = std::exchange(child.body_, {});
    body.promise().write_to(place);
    return body;
  }
  // The result of a child.
  template <class T>
  static auto take(fork_place<stored<T>>& place) -> std::conditional_t<std::is_void_v<T>, no_value, T> {
    if constexpr (std::is_void_v<T>) return {};
    else if constexpr (std::is_reference_v<T>) return static_cast<T>(*place.value());
    else return std::move(place.value());
  }

  // Discards a child that has not begun, after another child has failed.
  template <class T>
  static void drop_source(task<T>& child) noexcept {
    if (child) std::move(child).discard();
  }
  template <class Source>
  static void drop_source(Source&) noexcept {}

  // For a parent that is a stand-in, or no task.
  template <class Promise>
  handle begin_apart(std::size_t count, std::coroutine_handle<Promise> parent) {
    if constexpr (has_header<Promise>) return begin_group(count, parent, &parent.promise(), true);
    else return begin_group(count, parent, nullptr, false);
  }
};

template <class Promise>
inline constexpr bool goes_on_anywhere =
    std::is_base_of_v<migratable_header, Promise> && !std::is_same_v<Promise, migratable_header>;

}}}  // namespace hocket::detail
