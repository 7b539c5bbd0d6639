// shared_task<T>: a coroutine that runs once, and whose result any number of others await.
//
//   shared_task<config> load(file& from);
//
//   auto ready = load(from);                      // nothing runs yet
//   const config& c = co_await ready;             // the first await starts it; in a fiber and a thread: await(ready)
//   auto r = co_await within(1s, ready.wait());   // result<const config&>: a wait that can be cancelled and timed
//
// T is an object type, a reference or void. Everybody who awaits it gets the same const T& (T itself if it is a
// reference), or the same exception object. The result lies in the frame, which lives as long as any handle does; so
// what is awaited is a named handle, never a temporary one. Parameters live as long as the frame, too: a body must not
// own a handle of itself.
//
// Handles are copied freely, to any thread; each is used by one thread at a time and outlives the waits that were begun
// by it (the last one that is dropped under a wait is fatal). What the body did is visible to whoever got the result.
//
// The body is a coroutine of its own, as if spawned, for it outlives any one of those who await it:
//
//   where    on the executor of whoever awaits it first, or of start(where): on the loop itself, not in the scope of
//            that coroutine. It is posted there, never run inside the await.
//   context  that of the loop: neither a stop nor a deadline of any awaiter is its own. A wait that gives up leaves the
//            body running, for the others and for later.
//   end      when it has returned; or it is cancelled when the last handle is dropped, since nobody can ask for its
//            result any more. The loop counts it: run() runs it to its end. A loop that is destroyed kills it, and then
//            awaiting gives operation_canceled, as it does when the loop does not take it any more.
//
// A plain thread that comes first has no executor that others could rely on. So it runs the body itself, in wait() or
// co_await, to its end, whatever the options of its wait; use start() to have it run elsewhere. On an executor that is
// not a loop nobody counts the body: the executor must outlive it.
//
// An exception that nobody has received when the last handle is dropped goes to on_unhandled, as with join_handle.
// Never awaited, it never runs: the last handle destroys the frame. A body that awaits itself is fatal; a cycle of
// several shared tasks is not found, and waits until somebody's deadline.
//
// The protocol. One word, changed under a mutex that guards the line of waiters, too:
//
//   idle      not started             -> started  begin(), start()  whoever does it launches the body, off the mutex
//   started   it runs, or is about to -> over     wake_all()
//   over      ending() and the result    final; read without the mutex
//
//   wait    1. looks: over, take; 2. under the mutex looks again; not over: into the line; 3. launches if it was idle.
//   body    1. writes the result; 2. ends its run (core/detail/scheduled.hpp): from there on it is known whether
//           there was an exception; 3. under the mutex: over, and takes the whole line out; 4. grants each, which posts
//           it.
// Lost wake-up: a waiter enters the line under the same mutex under which the word becomes `over`.
//
// Who frees the frame. The run lies in it, and is counted like any scheduled coroutine: one reference for the body
// until step 4, one for all the handles together, one for each context below it. The last one destroys the frame; if it
// never began, the last handle does. So a waiter that was granted may drop the last handle while others are still to
// be granted.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/spawn.hpp>
#include <hocket/coro/detail/shared_promise.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class T = void>
class [[nodiscard]] shared_task {
  static_assert(std::is_void_v<T> || std::is_lvalue_reference_v<T> || (std::is_object_v<T> && !std::is_array_v<T>),
                "shared_task<T>: T is an object type, an lvalue reference or void");

 public:
  using value_type = T;
  struct promise_type : detail::shared_promise<T> {
    shared_task get_return_object() noexcept {
      detail::shared_promise<T>& promise = *this;
      return shared_task(promise);
    }
  };

  // An empty handle: only to be assigned to.
  shared_task() noexcept = default;
  shared_task(const shared_task& other) noexcept : of_(other.of_) {
    if (of_) of_->state.retain();
  }
  shared_task(shared_task&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  shared_task& operator=(shared_task other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~shared_task() {
    if (of_) of_->state.drop();
  }

  explicit operator bool() const noexcept { return of_ != nullptr; }

  // Any thread. Whether awaiting it would not wait. False may be outdated at once.
  bool is_ready() const noexcept { return checked().state.ended(); }

  // Any thread. Starts the body on a target (a loop, a scope) or an executor, unless it was started before.
  template <detail::spawnable_on Where>
  void start(Where& where) const noexcept {
    checked().state.start(detail::target_of(where));
  }
  void start(executor& on) const noexcept { checked().state.start(on); }

 private:
  class waiting {
   public:
    using value_type = typename detail::shared_promise<T>::given;
    static constexpr bool keeps_result = true;
    explicit waiting(detail::shared_promise<T>& of) noexcept : of_(&of) {}
    bool try_now() noexcept { return of_->state.try_now(); }
    void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { of_->state.begin(wait, entry); }
    result<value_type> take() {
      if (std::error_code error = of_->state.check()) return failure(error);
      if constexpr (std::is_void_v<T>) return {};
      else return of_->give();
    }

   private:
    detail::shared_promise<T>* of_;
  };

 public:
  // Waits for the end: result<const T&>, result<T> for a reference or void. Throws what left the body.
  [[nodiscard]] primitive::operation<waiting> wait(call_site at = this_call_site()) const& {
    return primitive::operation<waiting>(std::in_place, at, checked());
  }
  void wait(call_site at = this_call_site()) && = delete;  // the result lies in the frame

  template <class Room>
  class awaiter : public detail::own_awaiter {
   public:
    explicit awaiter(const shared_task& of) : what_(of.wait({})) {}
    bool await_ready() noexcept { return wait_.await_ready(); }
    bool await_suspend(std::coroutine_handle<> handle) noexcept { return wait_.await_suspend(handle); }
    bool leave_result() noexcept { return wait_.leave_result(); }
    typename waiting::value_type await_resume() {
      auto got = wait_.await_resume();
      if (!got) detail::throw_error(got.error());
      if constexpr (!std::is_void_v<T>) return *got;
    }

   private:
    primitive::operation<waiting> what_;
    hocket::detail::wait<waiting, detail::no_options, Room> wait_{std::move(what_).template wait_in<Room>()};
  };
  awaiter<detail::own_room<1>> operator co_await() const& { return awaiter<detail::own_room<1>>(*this); }
  awaiter<detail::shared_room> await_in_task() const& { return awaiter<detail::shared_room>(*this); }
  void await_in_task() && = delete;
  void operator co_await() && = delete;  // name the handle: the result lies in the frame

 private:
  explicit shared_task(detail::shared_promise<T>& of) noexcept : of_(&of) {}

  detail::shared_promise<T>& checked() const noexcept {
    detail::expects(of_ != nullptr, "an empty shared_task was used",
                    "it was moved from, or never came from a coroutine");
    return *of_;
  }
  detail::shared_promise<T>* of_ = nullptr;
};

}}  // namespace hocket
