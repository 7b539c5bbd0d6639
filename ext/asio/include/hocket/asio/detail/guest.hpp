// The state of an asio_home: a loop whose turns are handlers of an io_context. The posted handlers share the ownership,
// because the io_context may run or destroy them after the home.
//
// wake()
//   1. request_turn() posts a turn, unless one is queued already.
//   2. parker_.wake() wakes the parker.
// Hazard: if the io_context runs the turn at once, the guest may be destroyed before step 2 has ended. Prevented by
// end_sleep(), in which the turn waits for step 2 (core/thread/seam/inbox.hpp). A queued turn clears turn_requested_
// before it polls the loop, so it also serves requests that were made while it was queued.
//
// I/O. While a coroutine lives in the loop, the io_context waits for the descriptor of the loop's driver. Each time the
// descriptor is readable, a turn polls the driver. Without coroutines it does not wait, so the io_context has no work.
#pragma once
#include <hocket/asio/detail/outcome.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/runtime/loop.hpp>
#include <memory>
#include <new>
#include <optional>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI {

// Options for asio_home.
struct asio_home_options {
  literal_name name = "asio";                // of coroutines without a name of their own
  unhandled_handler on_unhandled = nullptr;  // null: abort, naming the coroutine
};
static_assert(detail::owns_nothing<asio_home_options>);

namespace detail {

// Memory for one handler: the queued turn.
class asio_handler_memory {
 public:
  void* allocate(std::size_t bytes) { return bytes <= sizeof buffer_ ? buffer_ : ::operator new(bytes); }
  void deallocate(void* memory) noexcept {
    if (memory != buffer_) ::operator delete(memory);
  }

 private:
  alignas(std::max_align_t) std::byte buffer_[128];
};

template <class T>
class asio_handler_allocator {
 public:
  using value_type = T;
  explicit asio_handler_allocator(asio_handler_memory& memory) noexcept : memory_(&memory) {}
  template <class U>
  asio_handler_allocator(const asio_handler_allocator<U>& other) noexcept : memory_(other.memory_) {}

  T* allocate(std::size_t count) { return static_cast<T*>(memory_->allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) noexcept { memory_->deallocate(memory); }
  friend bool operator==(const asio_handler_allocator& a, const asio_handler_allocator& b) noexcept {
    return a.memory_ == b.memory_;
  }

 private:
  template <class U>
  friend class asio_handler_allocator;
  asio_handler_memory* memory_;
};

class asio_guest final : public parker, public std::enable_shared_from_this<asio_guest> {
 public:
  asio_guest(net::io_context& host, const asio_home_options& options) : host_(host), alarm_(host) {
    loop_.emplace(loop_options{.name = options.name, .parker = this, .on_unhandled = options.on_unhandled});
  }

  loop& own_loop() noexcept { return *loop_; }

  // Runs a turn of the loop, and arranges the next one. On the thread of the io_context.
  void turn() {
    const time_point next = loop_->poll() ? time_point::min() : loop_->begin_sleep();
    const bool has_coroutines = loop_->live() != 0;
    if (!has_coroutines) release_host();
    else if (!work_) work_.emplace(host_.get_executor());
    if (has_coroutines) wait_for_io();
    if (next <= loop_->now()) request_turn();
    else if (has_coroutines && next < alarm_time_)
      set_alarm(next);  // without coroutines only memory is due, which can wait
  }

  // Ends the coroutines, then the loop.
  void close() {
    loop_->kill_all();
    turn();
    while (loop_->live() != 0) {
      if (host_.stopped()) host_.restart();
      host_.run_one();
    }
    release_host();
    loop_.reset();
  }

  [[nodiscard]] bool park(time_point until) noexcept override { return parker_.park(until); }
  void wake() noexcept override {
    request_turn();
    parker_.wake();
  }
  std::error_code watch(int descriptor) noexcept override try {
    io_.emplace(host_, descriptor);
    return {};
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  } catch (const std::system_error& error) {
    return error.code();
  }
  void unwatch(int) noexcept override {
    static_cast<void>(io_->release());  // the driver owns the descriptor
    io_.reset();
  }

 private:
  struct turn_handler {
    using allocator_type = asio_handler_allocator<void>;
    std::shared_ptr<asio_guest> guest;

    allocator_type get_allocator() const noexcept { return allocator_type(guest->memory_); }
    void operator()() {
      // ORDER: acq_rel, pairs with itself in request_turn(). A thread that posted no turn because of this one has
      // posted its coroutine before. A thread that posts the next turn finds the memory free.
      guest->turn_requested_.exchange(false, std::memory_order_acq_rel);
      if (guest->loop_) guest->turn();
    }
  };

  void request_turn() noexcept {
    // ORDER: acq_rel, pairs with itself in the handler.
    if (turn_requested_.exchange(true, std::memory_order_acq_rel)) return;
    net::post(host_, turn_handler{shared_from_this()});
  }

  void set_alarm(time_point time) {
    alarm_time_ = time;
    alarm_.expires_at(time);
    alarm_.async_wait([self = shared_from_this()](asio_error_code error) {
      if (error || !self->loop_) return;
      self->alarm_time_ = time_point::max();
      self->turn();
    });
  }

  // Waits until the driver has events; called after each turn. If release_host() has cancelled a wait, and a coroutine
  // lives in the loop again when its handler runs, then the handler runs a turn, which begins the wait anew.
  void wait_for_io() {
    if (!io_ || waits_for_io_) return;
    io_->async_wait(net::posix::stream_descriptor::wait_read, [self = shared_from_this()](asio_error_code error) {
      self->waits_for_io_ = false;
      if (self->loop_ && (!error || self->loop_->live() != 0)) self->turn();
    });
    waits_for_io_ = true;
  }

  // Without coroutines: the io_context has no work for this loop.
  void release_host() {
    work_.reset();
    if (io_) io_->cancel();
    if (alarm_time_ != time_point::max()) alarm_.cancel();
    alarm_time_ = time_point::max();
  }

  // Constant.
  net::io_context& host_;

  // The thread of the io_context only.
  net::steady_timer alarm_;
  time_point alarm_time_ = time_point::max();  // never later than the next deadline
  std::optional<net::executor_work_guard<net::io_context::executor_type>> work_;
  std::optional<net::posix::stream_descriptor> io_;  // of the driver, if there is one
  bool waits_for_io_ = false;
  std::optional<loop> loop_;

  // Any thread.
  futex_parker parker_;
  atomic<bool> turn_requested_{false};  // a turn is queued
  asio_handler_memory memory_;          // of the queued turn
};

}  // namespace detail

}}  // namespace hocket
