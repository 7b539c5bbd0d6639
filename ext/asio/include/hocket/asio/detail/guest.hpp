// What stands behind an asio_home, and is kept by the handlers that it has posted: they may be run, or destroyed, when
// the home is gone.
//
// wake() posts a turn, and then wakes the bed: the thread of the io_context, if it runs the turn at once, waits in
// end_sleep() for that last step, so nobody touches the guest after it is gone (core/thread/seam/inbox.hpp). A turn
// that stands in line is as good as one that is posted: it says so before it looks.
//
// If a coroutine waits for hocket's own I/O, the io_context waits for the descriptor of the loop's driver, and each
// time that is readable a turn polls the driver. While nobody lives here it does not, so the io_context has no work of
// it.
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
  literal_name name = "asio";                // of its coroutines that have no name of their own
  unhandled_handler on_unhandled = nullptr;  // null: abort, naming the coroutine
};
static_assert(detail::owns_nothing<asio_home_options>);

namespace detail {

// Memory for one handler: that of the turn which stands in line.
class asio_handler_memory {
 public:
  void* allocate(std::size_t bytes) { return bytes <= sizeof room_ ? room_ : ::operator new(bytes); }
  void deallocate(void* memory) noexcept {
    if (memory != room_) ::operator delete(memory);
  }

 private:
  alignas(std::max_align_t) std::byte room_[128];
};

template <class T>
class asio_handler_allocator {
 public:
  using value_type = T;
  explicit asio_handler_allocator(asio_handler_memory& from) noexcept : from_(&from) {}
  template <class U>
  asio_handler_allocator(const asio_handler_allocator<U>& other) noexcept : from_(other.from_) {}

  T* allocate(std::size_t count) { return static_cast<T*>(from_->allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) noexcept { from_->deallocate(memory); }
  friend bool operator==(const asio_handler_allocator& a, const asio_handler_allocator& b) noexcept {
    return a.from_ == b.from_;
  }

 private:
  template <class U>
  friend class asio_handler_allocator;
  asio_handler_memory* from_;
};

class asio_guest final : public parker, public std::enable_shared_from_this<asio_guest> {
 public:
  asio_guest(net::io_context& host, const asio_home_options& options) : host_(host), alarm_(host) {
    loop_.emplace(loop_options{.name = options.name, .parker = this, .on_unhandled = options.on_unhandled});
  }

  loop& own_loop() noexcept { return *loop_; }

  // A turn of the loop, and what is to come after it. On the thread of the io_context.
  void turn() {
    const time_point next = loop_->poll() ? time_point::min() : loop_->begin_sleep();
    const bool inhabited = loop_->live() != 0;
    if (!inhabited) rest();
    else if (!work_) work_.emplace(host_.get_executor());
    if (inhabited) wait_for_io();
    if (next <= loop_->now()) request_turn();
    else if (inhabited && next < alarm_at_) set_alarm(next);  // else it is about the house, which can wait
  }

  // Ends its coroutines, then itself.
  void close() {
    loop_->kill_all();
    turn();
    while (loop_->live() != 0) {
      if (host_.stopped()) host_.restart();
      host_.run_one();
    }
    rest();
    loop_.reset();
  }

  [[nodiscard]] bool park(time_point until) noexcept override { return bed_.park(until); }
  void wake() noexcept override {
    request_turn();
    bed_.wake();
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
    static_cast<void>(io_->release());  // it is the driver's
    io_.reset();
  }

 private:
  struct turn_handler {
    using allocator_type = asio_handler_allocator<void>;
    std::shared_ptr<asio_guest> of;

    allocator_type get_allocator() const noexcept { return allocator_type(of->memory_); }
    void operator()() {
      // ORDER: acq_rel, pairs with itself in request_turn(): whoever posts no turn, because of this one, has posted his
      // coroutine before; and whoever posts the next one finds the memory free.
      of->requested_.exchange(false, std::memory_order_acq_rel);
      if (of->loop_) of->turn();
    }
  };

  void request_turn() noexcept {
    // ORDER: acq_rel, pairs with itself in the handler.
    if (requested_.exchange(true, std::memory_order_acq_rel)) return;
    net::post(host_, turn_handler{shared_from_this()});
  }

  void set_alarm(time_point when) {
    alarm_at_ = when;
    alarm_.expires_at(when);
    alarm_.async_wait([self = shared_from_this()](asio_error_code error) {
      if (error || !self->loop_) return;
      self->alarm_at_ = time_point::max();
      self->turn();
    });
  }

  // Until the driver has something to do; after each turn anew. A wait that rest() has cancelled may come back when
  // somebody lives here again: then it begins anew, in a turn.
  void wait_for_io() {
    if (!io_ || waits_for_io_) return;
    io_->async_wait(net::posix::stream_descriptor::wait_read, [self = shared_from_this()](asio_error_code error) {
      self->waits_for_io_ = false;
      if (self->loop_ && (!error || self->loop_->live() != 0)) self->turn();
    });
    waits_for_io_ = true;
  }

  // Nobody lives here: the io_context has no work because of it.
  void rest() {
    work_.reset();
    if (io_) io_->cancel();
    if (alarm_at_ != time_point::max()) alarm_.cancel();
    alarm_at_ = time_point::max();
  }

  // Constant.
  net::io_context& host_;

  // Of the thread of the io_context.
  net::steady_timer alarm_;
  time_point alarm_at_ = time_point::max();  // never later than the next deadline
  std::optional<net::executor_work_guard<net::io_context::executor_type>> work_;
  std::optional<net::posix::stream_descriptor> io_;  // the driver's, if there is one
  bool waits_for_io_ = false;
  std::optional<loop> loop_;

  // Any thread.
  futex_parker bed_;
  atomic<bool> requested_{false};  // a turn stands in line
  asio_handler_memory memory_;     // whose it is
};

}  // namespace detail

}}  // namespace hocket
