// A watch: a value that changes, and receivers that wait for a value they have not seen. Only the latest value counts.
//
//   watch<config> settings(load());           // there is always a value
//   settings.set(load());                     // any thread, never waits; false: the watch is closed
//
//   auto mine = settings.subscribe();         // has seen no value yet
//   auto next = co_await mine.receive();      // result<config>: waits for a value that it has not seen
//   config now = settings.get();              // without waiting, and without a receiver
//
// Guarantees.
//   - receive() gives the value that is the latest when it ends. Values that were set between two calls are skipped.
//   - A receiver gets a value once at most. Every receiver that continues to receive gets the last value.
//   - Everything before a set() is visible to a receiver of that value or a later one.
//   - A receive that was cancelled, timed out or killed has seen nothing.
//   - set() runs no foreign code but T's. It moves values under the inner mutex, and destroys the replaced value
//     outside of it. A receive copies the value under the inner mutex.
//
// Receivers. Any number of threads may set the value. Any number of receivers may begin and end at any time. A receiver
// is a number, known to the receiver alone. One coroutine at a time uses a receiver. A copy is another receiver that
// has seen the same.
//
// Closing. After close(), set() does nothing and returns false. A receiver that has not seen the last value still gets
// it. Then it fails with errc::closed, which equals std::errc::broken_pipe. close(error) gives the receivers that error
// instead. The first close counts. get() still gives the last value.
//
// Cost. One short critical section per operation. A set() grants the waiters in the order in which they began to wait.
// Nothing allocates.
//
// Thread safety. Any thread. unsync::watch is for the coroutines of one thread.
//
// Cancellation. Every wait can be cancelled, timed and selected.
//
// Requirements on T. T is copyable, and a copy may throw. Then receive() throws this exception, and the receiver has
// not seen the value. Moves are noexcept. For a large value use std::shared_ptr<const T>.
//
// Lifetime. A watch must outlive its receivers' calls. Destroying a watch that has a waiting receiver is fatal at check
// level `debug`.
//
// Implementation: sync/detail/publication.hpp.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/own_pointer.hpp>
#include <hocket/sync/detail/publication.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength, class T>
class basic_watch final : private detail::publication<Strength> {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> && !std::is_const_v<T>,
                "watch<T>: T is an object type: watch a reference as a pointer, an array as a std::array");
  static_assert(std::is_copy_constructible_v<T>, "watch<T>: each receiver has a copy: watch a std::shared_ptr");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>,
                "watch<T>: T must be movable without exceptions: watch a std::shared_ptr");

  using base = detail::publication<Strength>;

 public:
  using value_type = T;
  class receiver;

  explicit basic_watch(T first) noexcept : base(1), value_(std::move(first)) {}

  // Never waits. False: the watch is closed.
  bool set(T value) noexcept {
    return this->publish([&](std::uint64_t) noexcept { std::swap(value_, value); });
  }
  // The latest value. Throws what its copy throws.
  T get() const {
    primitive::locked guard(this->mutex_);
    return value_;
  }

  // A receiver that has seen no value yet.
  receiver subscribe() noexcept { return receiver(*this); }

  // False: the watch was closed before; nothing changes.
  bool close() noexcept { return base::close(errc::closed); }
  bool close(std::error_code error) noexcept { return base::close(error); }

  using base::is_closed;  // a hint

 private:
  const char* what() const noexcept override { return "a watch"; }

  T value_;  // guarded by mutex_
};

// A receiver of a watch. One coroutine at a time uses it. It must not move while the coroutine waits.
template <class Strength, class T>
class basic_watch<Strength, T>::receiver {
  class receiving;

 public:
  explicit receiver(basic_watch& source) noexcept : watch_(&source) {}

  // Waits for a value that the receiver has not seen.
  [[nodiscard]] primitive::operation<receiving> receive(call_site site = this_call_site()) noexcept {
    return primitive::operation<receiving>(std::in_place, site, *this);
  }
  // Never suspends. std::errc::resource_unavailable_try_again: the receiver has seen the latest value.
  result<T> try_receive() {
    if (!watch_->has_news(last_seen_)) return failure(std::errc::resource_unavailable_try_again);
    return take();
  }

 private:
  result<T> take() {
    primitive::locked guard(watch_->mutex_);
    const std::uint64_t latest = watch_->published();
    if (last_seen_ == latest) {
      detail::expects(watch_->is_closed(), "two coroutines received by one receiver of a watch",
                      "give each a copy of it");
      return failure(watch_->close_error());
    }
    result<T> value(std::in_place, std::as_const(watch_->value_));
    last_seen_ = latest;
    return value;
  }

  basic_watch* watch_;
  std::uint64_t last_seen_ = 0;  // the number of the value; the first value has number 1
};

template <class Strength, class T>
class basic_watch<Strength, T>::receiver::receiving {
 public:
  using value_type = T;
  static constexpr bool keeps_result = true;
  explicit receiving(receiver& rx) noexcept : receiver_(&rx) {}
  bool try_now() noexcept { return rx().watch_->has_news(rx().last_seen_); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return rx().watch_->begin(wait, entry, rx().last_seen_);
  }
  primitive::wait_source& source() noexcept { return *rx().watch_; }
  result<T> take() { return rx().take(); }

 private:
  receiver& rx() const noexcept { return *receiver_.get(); }
  detail::own_pointer<receiver> receiver_;
};

template <class T>
using watch = basic_watch<strength::shared, T>;
namespace unsync {
template <class T>
using watch = basic_watch<strength::unsync, T>;
}

}}  // namespace hocket
