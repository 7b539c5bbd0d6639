// use_hocket: a completion token. The asynchronous operations of Boost.Asio become operations of hocket.
//
//   auto n = co_await socket.async_read_some(buffer, use_hocket);           // in a task: result<std::size_t>
//   auto n = await(within(1s, socket.async_read_some(buffer, use_hocket))); // in a fiber
//
// What it gives. A completion handler of (error_code, T) gives a result<T>, one of (error_code) a result<void>, one of
// (error_code, T, U) a result<std::tuple<T, U>>; without an error_code the same, which then never fails by itself. An
// exception_ptr that is not null is thrown. Whatever the operation throws when it is begun, the await throws.
//
// It may be awaited on every executor of hocket, and by a plain thread; where coroutines shall run on the thread of the
// io_context itself, spawn them on an asio_home. Nothing is begun before it is awaited; it is awaited once, or
// discarded. It is no part of a select (a loser would have to be waited for); when_any takes tasks that await it.
//
// Ends. A cancellation, a deadline and a kill do not end the wait: they ask the operation to end (by the signal of its
// cancellation slot, `terminal`, emitted by a handler that is posted to the operation's executor), and it is waited
// for, because until then the buffers are its own. Then
//   - what it did all the same counts: a read that was complete gives its value, a write its error;
//   - what ended because of it (operation_aborted) gives operation_canceled or timed_out, by what came first;
//   - a kill unwinds the coroutine, whatever the operation did.
// What a composed operation (async_read) had transferred until then is not told. An operation that does not tell its
// executor, or heeds no cancellation slot, ends when it ends. If the io_context is destroyed under it, it gives
// operation_canceled.
//
// Buffers stay where they are until then. On a stack that is copied they cannot: that is fatal.
//
// How: asio/detail/wait.hpp.
//
// Who destroys an io_context with coroutines of another thread's executor waiting for it does so when nobody cancels
// them at that moment: the emission is posted to it.
#pragma once
#include <hocket/asio/detail/outcome.hpp>
#include <hocket/asio/detail/wait.hpp>
#include <hocket/core/detail/operation.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI {

struct use_hocket_t {};
inline constexpr use_hocket_t use_hocket{};

namespace detail {

template <class Outcome, class Arguments = typename Outcome::arguments>
class asio_handler;
template <class Outcome, class... Args>
class asio_handler<Outcome, asio_arguments<Args...>> {
 public:
  using cancellation_slot_type = net::cancellation_slot;

  asio_handler(asio_wait& of, Outcome& outcome, net::cancellation_slot slot) noexcept
      : own_(of), outcome_(&outcome), slot_(slot) {}

  cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

  void operator()(Args... args) {
    const asio_wait::party last = std::move(own_);
    outcome_->set(std::move(args)...);
  }

 private:
  asio_wait::party own_;
  Outcome* outcome_;
  net::cancellation_slot slot_;
};

// Its executor, where it tells one.
template <class Initiation>
concept tells_executor = requires(const Initiation& begin) { begin.get_executor(); };
struct no_executor {};
template <class Initiation>
struct executor_of {
  using type = no_executor;
  static std::optional<type> get(const Initiation&) noexcept { return {}; }
};
template <tells_executor Initiation>
struct executor_of<Initiation> {
  using type = std::remove_cvref_t<decltype(std::declval<const Initiation&>().get_executor())>;
  static std::optional<type> get(const Initiation& begin) noexcept { return begin.get_executor(); }
};

template <class Outcome, class Initiation, class... Args>
class [[nodiscard("an operation does nothing until it is awaited")]] asio_operation {
  class awaiter;

 public:
  using value_type = typename Outcome::value_type;

  template <class I, class... A>
  explicit asio_operation(std::in_place_t, I&& begin, A&&... args)
      : begin_(std::forward<I>(begin)), args_(std::forward<A>(args)...) {}
  asio_operation(asio_operation&&) = default;
  asio_operation& operator=(asio_operation&&) = delete;

  // It is awaited in the expression that begins it, or moved to there; the awaiter refers to it.
  awaiter operator co_await() && noexcept { return awaiter(*this); }

  // This operation under stricter options: `within` is made of these.
  asio_operation until(time_point deadline) && {
    if (deadline < options_.until) options_.until = deadline;
    return std::move(*this);
  }
  asio_operation within(duration time) && {
    if (time < options_.within) options_.within = time;
    return std::move(*this);
  }
  static constexpr bool can_be_discarded = true;
  static constexpr bool is_run_by_others = true;  // for stacks that move: the buffers must stay
  void discard() && noexcept {}

 private:
  Initiation begin_;
  std::tuple<Args...> args_;
  wait_options options_;
};

template <class Outcome, class Initiation, class... Args>
class asio_operation<Outcome, Initiation, Args...>::awaiter final : public asio_wait {
  using executor = executor_of<Initiation>;

 public:
  explicit awaiter(asio_operation& what) noexcept : what_(what), executor_(executor::get(what.begin_)) {}

  bool await_ready() const noexcept { return false; }

  bool await_suspend(std::coroutine_handle<> self) noexcept {
    wait_.arm(self, what_.options_);
    entry_.enlist(wait_, *this);
    try {
      std::apply([this](Args&... args) { begin(std::move(args)...); }, what_.args_);
    } catch (...) {
      thrown_ = std::current_exception();  // the handler is destroyed, and has given the hold back
    }
    return wait_.commit();
  }

  result<value_type> await_resume() {
    const wait_end end = wait_.finish();
    if (thrown_) std::rethrow_exception(thrown_);
    if (end == wait_end::killed || (end != wait_end::granted && outcome_.aborted())) return failure_of(end);
    return outcome_.take();
  }

  bool detach(waiter&) noexcept override {
    if constexpr (tells_executor<Initiation>) {
      if (join()) net::post(*executor_, emission(*this));
    }
    return false;
  }

 private:
  class emission {
   public:
    explicit emission(awaiter& of) noexcept : own_(of), signal_(&of.signal_) {}
    void operator()() {
      const party last = std::move(own_);
      signal_->emit(net::cancellation_type::terminal);
    }

   private:
    party own_;
    net::cancellation_signal* signal_;
  };

  void begin(Args&&... args) {
    std::move(what_.begin_)(asio_handler<Outcome>(*this, outcome_, signal_.slot()), std::move(args)...);
  }

  asio_operation& what_;
  std::optional<typename executor::type> executor_;
  std::exception_ptr thrown_;
  Outcome outcome_;
  net::cancellation_signal signal_;
};

}  // namespace detail

}}  // namespace hocket

template <class R, class... Args>
class boost::asio::async_result<hocket::use_hocket_t, R(Args...)> {
 public:
  template <class Initiation, class... Given>
  static auto initiate(Initiation&& begin, hocket::use_hocket_t, Given&&... given) {
    using outcome = typename hocket::detail::asio_outcome_of<std::decay_t<Args>...>::type;
    return hocket::detail::asio_operation<outcome, std::decay_t<Initiation>, std::decay_t<Given>...>(
        std::in_place, std::forward<Initiation>(begin), std::forward<Given>(given)...);
  }
};
