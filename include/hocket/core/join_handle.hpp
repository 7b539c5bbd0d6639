// join_handle<T>: the end of a spawned coroutine, and its result.
//
//   auto total = spawn(lp, sum, std::ref(in));
//   int n = await(total);                       // or co_await total: the value, or throws what left the coroutine
//   auto r = await(total.join());               // the same as result<int>: a wait that can be timed
//
// Awaiting gives the result once. If the coroutine was cancelled or killed, or the wait was cancelled, it throws
// `cancelled` (join(): operation_canceled); a wait that times out throws std::system_error(timed_out), and so does the
// join of a coroutine that its own deadline ended: that its time-out left is no unhandled exception, and join() gives
// it as a result. A cancelled wait leaves the handle as it was. A coroutine that awaits its own handle would wait for
// ever: that is fatal. So would a thread that waits for a coroutine of a loop which nobody but itself will run: it
// cannot be told from one beside the thread of the loop, so nothing says so. Such a thread says lp.run_until(handle)
// first. Dropping the handle gives up the result only: it neither cancels nor waits; the target of the spawn joins. An
// exception that is given up so goes to the target's on_unhandled (which aborts unless told otherwise), on the thread
// that drops the handle if the coroutine has ended. Only a handle that is dropped because of another exception gives it
// up in silence. Move-only, owned by one thread at a time; the coroutine may run on another.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/scheduled.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Nothing nests: the join of a coroutine that returns result<T> gives result<T>.
template <class T>
struct joined {
  using type = T;
};
template <class T>
struct joined<result<T>> {
  using type = T;
};

// Of a coroutine that gave no value: throws what left it, or gives the error.
std::error_code error_of_joined(scheduled& of);

template <class T>
class join_operation {
 public:
  using value_type = typename joined<T>::type;
  static constexpr bool keeps_result = true;

  explicit join_operation(scheduled_result<T>& of) noexcept : of_(&of) {}
  bool try_now() noexcept { return of_->ended(); }
  bool begin(suspension& wait, waiter& entry) noexcept { return of_->join(wait, entry); }
  wait_source& source() const noexcept { return of_->as_source(); }
  result<value_type> take() {
    of_->take_result();
    if (of_->ending() != outcome_kind::value) [[unlikely]]
      return failure(error_of_joined(*of_));
    if constexpr (std::is_void_v<T>) return {};
    else return of_->result();
  }

 private:
  scheduled_result<T>* of_;
};

}  // namespace detail

template <class T = void>
class join_handle {
 public:
  using value_type = T;

  join_handle() noexcept = default;
  explicit join_handle(detail::scheduled_result<T>& of) noexcept
      : of_(&of) {}  // takes the object's reference, with the run
  join_handle(join_handle&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  join_handle& operator=(join_handle&& other) noexcept {
    join_handle old(std::move(other));
    std::swap(of_, old.of_);
    return *this;
  }
  ~join_handle() {
    if (of_) of_->drop_handle();
  }

  explicit operator bool() const noexcept { return of_ != nullptr; }
  const char* name() const noexcept { return of_ ? of_->name() : ""; }
  executor& home() const noexcept { return checked().home(); }  // where it runs

  // Any thread. Whether the coroutine has ended: then awaiting does not wait for it.
  bool done() const noexcept { return checked().ended(); }

  // Any thread. Asks the coroutine to stop: its present and later waits end with operation_canceled.
  void cancel() const noexcept { checked().request(stop_level::cancel); }

  // Any thread. Ends the coroutine: its present wait, or the next one, unwinds it,
  // unless that reports the kill (docs/waits.md). Await the handle to know it gone.
  void kill() const noexcept { checked().request(stop_level::kill); }

  // The wait for the end as an operation, to be timed or selected.
  [[nodiscard]] primitive::operation<detail::join_operation<T>> join(call_site at = this_call_site()) {
    return primitive::operation<detail::join_operation<T>>(std::in_place, at, checked());
  }

  template <class Room>
  class awaiter : public detail::own_awaiter {
   public:
    explicit awaiter(join_handle& of) : what_(of.join({})) {}
    bool await_ready() noexcept { return wait_.await_ready(); }
    bool await_suspend(std::coroutine_handle<> handle) noexcept { return wait_.await_suspend(handle); }
    bool leave_result() noexcept { return wait_.leave_result(); }
    T await_resume() {
      auto joined = wait_.await_resume();
      if constexpr (detail::is_result<T>) {
        return joined;
      } else {
        if (!joined) detail::throw_error(joined.error());
        if constexpr (!std::is_void_v<T>) return std::forward<T>(*joined);
      }
    }

   private:
    primitive::operation<detail::join_operation<T>> what_;
    detail::wait<detail::join_operation<T>, detail::no_options, Room> wait_{std::move(what_).template wait_in<Room>()};
  };
  awaiter<detail::own_room<1>> operator co_await() { return awaiter<detail::own_room<1>>(*this); }
  awaiter<detail::shared_room> await_in_task() { return awaiter<detail::shared_room>(*this); }

 private:
  detail::scheduled_result<T>& checked() const noexcept {
    detail::expects(of_ != nullptr, "an empty join_handle was used", "it was moved from, or never came from a spawn");
    return *of_;
  }
  detail::scheduled_result<T>* of_ = nullptr;
};

}}  // namespace hocket
