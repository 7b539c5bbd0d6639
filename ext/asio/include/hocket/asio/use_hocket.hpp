// use_hocket: a completion token that turns asynchronous operations of Boost.Asio into operations of hocket.
//
//   auto n = co_await socket.async_read_some(buffer, use_hocket);           // in a task: result<std::size_t>
//   auto n = await(within(1s, socket.async_read_some(buffer, use_hocket))); // in a fiber
//
// Result.
// - A completion handler of (error_code, T) makes a result<T>, of (error_code) a result<void>, and of (error_code, T,
//   U) a result<std::tuple<T, U>>. Without an error_code the type is the same, and the operation never fails by itself.
// - An exception_ptr that is not null is thrown. The await also throws an exception of the initiation.
//
// Every executor of hocket, and a plain thread, may await the operation. To run coroutines on the thread of the
// io_context itself, spawn them on an asio_home. The operation begins when it is awaited. It is awaited once, or
// discarded.
// Do not use it in a select, because a loser would still have to complete. Use when_any with tasks that await it.
//
// Cancellation. A cancellation, a deadline or a kill does not end the wait. It requests the end of the operation by the
// signal of its cancellation slot (`terminal`), which a handler posted to the operation's executor emits. The coroutine
// waits until the operation has completed, because the operation uses the buffers until then. Then
// - an operation that completed nevertheless has its own result: a complete read its value, a write its error
// - an aborted operation (operation_aborted) has operation_canceled or timed_out, by the first cause
// - a kill unwinds the coroutine, whatever the result
// The bytes that an aborted composed operation (async_read) had transferred are not reported. An operation without an
// executor, or without support for a cancellation slot, ends by itself. If the io_context is destroyed under it, its
// result is operation_canceled.
//
// Limits. The buffers stay in place until the completion. On a copied stack they cannot: that is fatal.
//
// Do not destroy an io_context for which coroutines of another thread's executor wait while another thread cancels
// them: the emission is posted to the io_context.
//
// asio/detail/wait.hpp describes the implementation.
#pragma once
#include <hocket/asio/detail/outcome.hpp>
#include <hocket/asio/detail/wait.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI {

// The type of the completion token use_hocket; see above.
struct use_hocket_t {};
inline constexpr use_hocket_t use_hocket{};

namespace detail {

template <class Outcome, class Arguments = typename Outcome::arguments>
class asio_handler;
template <class Outcome, class... Args>
class asio_handler<Outcome, asio_arguments<Args...>> {
 public:
  using cancellation_slot_type = net::cancellation_slot;

  asio_handler(asio_wait& wait, Outcome& outcome, net::cancellation_slot slot) noexcept
      : party_(wait), outcome_(&outcome), slot_(slot) {}

  cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

  void operator()(Args... args) {
    const asio_wait::party last = std::move(party_);
    outcome_->set(std::move(args)...);
  }

 private:
  asio_wait::party party_;
  Outcome* outcome_;
  net::cancellation_slot slot_;
};

// Whether an initiation has an executor.
template <class Initiation>
concept has_executor = requires(const Initiation& begin) { begin.get_executor(); };
struct no_executor {};
template <class Initiation>
struct executor_of {
  using type = no_executor;
  static std::optional<type> get(const Initiation&) noexcept { return {}; }
};
template <has_executor Initiation>
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

  // The operation is awaited in the expression that creates it, or moved there. The awaiter refers to the operation.
  awaiter operator co_await() && noexcept { return awaiter(*this); }

  // These return this operation with stricter options. The adaptor hocket::within() calls them.
  asio_operation until(time_point deadline) && {
    if (deadline < options_.until) options_.until = deadline;
    return std::move(*this);
  }
  asio_operation within(duration timeout) && {
    if (timeout < options_.within) options_.within = timeout;
    return std::move(*this);
  }
  static constexpr bool can_be_discarded = true;
  static constexpr bool is_run_by_others = true;  // the buffers must stay: the stack is not packed
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
  explicit awaiter(asio_operation& operation) noexcept
      : operation_(operation), executor_(executor::get(operation.begin_)) {}

  bool await_ready() const noexcept { return false; }

  bool await_suspend(std::coroutine_handle<> self) noexcept {
    wait_.arm(self, operation_.options_);
    entry_.enlist(wait_, *this);
    try {
      std::apply([this](Args&... args) { begin(std::move(args)...); }, operation_.args_);
    } catch (...) {
      thrown_ = std::current_exception();  // the handler is destroyed, and has released its hold
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
    if constexpr (has_executor<Initiation>) {
      if (join()) net::post(*executor_, emission(*this));
    }
    return false;
  }

 private:
  class emission {
   public:
    explicit emission(awaiter& source) noexcept : party_(source), signal_(&source.signal_) {}
    void operator()() {
      const party last = std::move(party_);
      signal_->emit(net::cancellation_type::terminal);
    }

   private:
    party party_;
    net::cancellation_signal* signal_;
  };

  void begin(Args&&... args) {
    std::move(operation_.begin_)(asio_handler<Outcome>(*this, outcome_, signal_.slot()), std::move(args)...);
  }

  asio_operation& operation_;
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
  template <class Initiation, class... InitArgs>
  static auto initiate(Initiation&& begin, hocket::use_hocket_t, InitArgs&&... args) {
    using outcome = typename hocket::detail::asio_outcome_of<std::decay_t<Args>...>::type;
    return hocket::detail::asio_operation<outcome, std::decay_t<Initiation>, std::decay_t<InitArgs>...>(
        std::in_place, std::forward<Initiation>(begin), std::forward<InitArgs>(args)...);
  }
};
