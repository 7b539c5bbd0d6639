// join_handle<T>: a handle to wait for the end of a spawned coroutine and to receive its result.
//
//   auto total = spawn(lp, sum, std::ref(in));
//   int n = await(total);                       // or co_await total: the value, or throws the coroutine's exception
//   auto r = await(total.join());               // the same as result<int>: a wait that can be timed
//
// Move-only. One thread at a time owns a handle; the coroutine may run on another thread.
//
// Errors. Awaiting delivers the result once.
//   - If the coroutine was cancelled or killed, or the wait was cancelled, awaiting throws `cancelled` (join() returns
//     operation_canceled).
//   - If the wait times out, or the coroutine's own deadline ended it, awaiting throws std::system_error(timed_out)
//     (join() returns timed_out). A coroutine that leaves by its own time-out is no unhandled exception.
//
// Cancellation. A cancelled wait leaves the handle as it was.
//
// Do not.
//   - If a coroutine awaits its own handle, it would wait for ever. That is fatal.
//   - If a thread waits for a coroutine of a loop that no other thread runs, it waits for ever. hocket does not detect
//     this, because it cannot distinguish this thread from one beside the loop's thread. Prevented by
//     lp.run_until(handle) before the wait.
//
// Dropping the handle discards only the result: it neither cancels nor waits, because the target of the spawn joins. A
// discarded exception goes to the target's on_unhandled (which aborts by default). If the coroutine has ended, that
// call is on the thread that drops the handle. Only a handle that is dropped because of another exception discards its
// exception silently.
#pragma once
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/wait/seam/operation.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// The value type of a join. Results do not nest: the join of a coroutine that returns result<T> gives result<T>.
template <class T>
struct joined {
  using type = T;
};
template <class T>
struct joined<result<T>> {
  using type = T;
};

// For a coroutine that returned no value: throws its exception, or returns the error.
std::error_code error_of_joined(scheduled& coroutine);

template <class T>
class join_operation {
 public:
  using value_type = typename joined<T>::type;
  static constexpr bool keeps_result = true;

  explicit join_operation(scheduled_result<T>& coroutine) noexcept : coroutine_(&coroutine) {}
  bool try_now() noexcept { return coroutine_->ended(); }
  bool begin(suspension& wait, waiter& entry) noexcept { return coroutine_->join(wait, entry); }
  wait_source& source() const noexcept { return coroutine_->as_source(); }
  result<value_type> take() {
    coroutine_->take_result();
    if (coroutine_->ending() != outcome_kind::value) [[unlikely]]
      return failure(error_of_joined(*coroutine_));
    if constexpr (std::is_void_v<T>) return {};
    else return coroutine_->result();
  }

 private:
  scheduled_result<T>* coroutine_;
};

}  // namespace detail

// A handle of a spawned coroutine; see above.
template <class T = void>
class join_handle {
 public:
  using value_type = T;

  join_handle() noexcept = default;
  // Takes over the reference that the handle shares with the run.
  explicit join_handle(detail::scheduled_result<T>& coroutine) noexcept : coroutine_(&coroutine) {}
  join_handle(join_handle&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  join_handle& operator=(join_handle&& other) noexcept {
    join_handle old(std::move(other));
    std::swap(coroutine_, old.coroutine_);
    return *this;
  }
  ~join_handle() {
    if (coroutine_) coroutine_->drop_handle();
  }

  explicit operator bool() const noexcept { return coroutine_ != nullptr; }
  const char* name() const noexcept { return coroutine_ ? coroutine_->name() : ""; }
  executor& home() const noexcept { return checked().home(); }  // the executor of the coroutine

  // Whether the coroutine has ended, so that awaiting does not wait. Any thread.
  bool done() const noexcept { return checked().ended(); }

  // Requests a stop: the coroutine's present and later waits end with operation_canceled. Any thread.
  void cancel() const noexcept { checked().request(stop_level::cancel); }

  // Kills the coroutine: its present or next wait unwinds it, unless that wait reports the kill (docs/waits.md). The
  // coroutine has ended when an await of the handle returns. Any thread.
  void kill() const noexcept { checked().request(stop_level::kill); }

  // Waits for the end, as an operation that can be timed or selected.
  [[nodiscard]] primitive::operation<detail::join_operation<T>> join(call_site site = this_call_site()) {
    return primitive::operation<detail::join_operation<T>>(std::in_place, site, checked());
  }

  template <class Room>
  class awaiter : public detail::own_awaiter {
   public:
    explicit awaiter(join_handle& handle) : operation_(handle.join({})) {}
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
    primitive::operation<detail::join_operation<T>> operation_;
    detail::wait<detail::join_operation<T>, detail::no_options, Room> wait_{
        std::move(operation_).template wait_in<Room>()};
  };
  awaiter<detail::own_room<1>> operator co_await() { return awaiter<detail::own_room<1>>(*this); }
  awaiter<detail::shared_room> await_in_task() { return awaiter<detail::shared_room>(*this); }

 private:
  detail::scheduled_result<T>& checked() const noexcept {
    detail::expects(coroutine_ != nullptr, "an empty join_handle was used",
                    "it was moved from, or never came from a spawn");
    return *coroutine_;
  }
  detail::scheduled_result<T>* coroutine_ = nullptr;
};

}}  // namespace hocket
