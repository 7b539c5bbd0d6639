// A watch: a value that changes, and receivers that wait for a value which they have not seen. Only the latest counts.
//
//   watch<config> settings(load());           // there is always a value
//   settings.set(load());                     // any thread, never waits; false: it is closed
//
//   auto mine = settings.subscribe();     // has seen nothing yet
//   auto next = co_await mine.receive();      // result<config>: waits until there is one that it has not seen
//   config now = settings.get();              // without waiting, and without a receiver
//
// Guarantees. receive() gives the value that is the latest when it ends; those that were set between two calls are
// skipped. A value is given to a receiver once at most, and the last one of all is given to every receiver that goes on
// receiving. What was done before a set() is visible to who receives that value or a later one. A receive that was
// cancelled, timed out or killed has seen nothing. set() runs no foreign code, but that values are moved under the
// inner mutex, and copied for receivers; the one that is replaced is destroyed by who has set the next, outside of it.
//
// Any number of threads may set, and of receivers may come and go: a receiver is a number, known to itself only. It is
// used by one coroutine at a time; a copy is one more receiver, that has seen the same.
//
// The end. After close() set() is without effect, and says so. A receiver that has not seen the last value still gets
// it; then it fails with errc::closed, which equals std::errc::broken_pipe. close(why) gives them that error instead.
// Of several closes the first one counts. get() goes on to give the last value. It outlives its receivers' calls, and
// no receiver waits when it is destroyed (fatal at check level `debug`).
//
// All is one short critical section per operation; a set() grants those who wait, in the order in which they came to
// wait. Any thread; unsync::watch is for the coroutines of one thread. Every wait can be cancelled, timed and selected.
// Nothing allocates.
//
// T is copyable, perhaps with exceptions: one that is thrown by the copy for a receiver leaves its receive(), and the
// value is not seen. Moves are noexcept. What is large is best a std::shared_ptr<const T>.
//
// How: detail/publication.hpp.
#pragma once
#include <hocket/core/detail/operation.hpp>
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

  // Never waits. False: it is closed.
  bool set(T value) noexcept {
    return this->publish([&](std::uint64_t) noexcept { std::swap(value_, value); });
  }
  // The latest value. What the copy throws.
  T get() const {
    primitive::locked guard(this->mutex_);
    return value_;
  }

  // One that has seen nothing yet.
  receiver subscribe() noexcept { return receiver(*this); }

  // False: it was closed before, and nothing changes.
  bool close() noexcept { return base::close(errc::closed); }
  bool close(std::error_code why) noexcept { return base::close(why); }

  using base::is_closed;  // a hint

 private:
  const char* what() const noexcept override { return "a watch"; }

  T value_;  // guarded by mutex_
};

// What has been seen of a watch. Used by one coroutine at a time, and stays where it is while that waits.
template <class Strength, class T>
class basic_watch<Strength, T>::receiver {
  class receiving;

 public:
  explicit receiver(basic_watch& from) noexcept : from_(&from) {}

  // Waits for a value that it has not seen.
  [[nodiscard]] primitive::operation<receiving> receive(call_site at = this_call_site()) noexcept {
    return primitive::operation<receiving>(std::in_place, at, *this);
  }
  // Never suspends. std::errc::resource_unavailable_try_again: it has seen the latest.
  result<T> try_receive() {
    if (!from_->has_news(seen_)) return failure(std::errc::resource_unavailable_try_again);
    return take();
  }

 private:
  result<T> take() {
    primitive::locked guard(from_->mutex_);
    const std::uint64_t latest = from_->published();
    if (seen_ == latest) {
      detail::expects(from_->is_closed(), "two coroutines received by one receiver of a watch",
                      "give each a copy of it");
      return failure(from_->why());
    }
    result<T> got(std::in_place, std::as_const(from_->value_));
    seen_ = latest;
    return got;
  }

  basic_watch* from_;
  std::uint64_t seen_ = 0;  // the number of the value that it saw last; the first value has number 1
};

template <class Strength, class T>
class basic_watch<Strength, T>::receiver::receiving {
 public:
  using value_type = T;
  static constexpr bool keeps_result = true;
  explicit receiving(receiver& of) noexcept : receiver_(&of) {}
  bool try_now() noexcept { return of().from_->has_news(of().seen_); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return of().from_->begin(wait, entry, of().seen_);
  }
  primitive::wait_source& source() noexcept { return *of().from_; }
  result<T> take() { return of().take(); }

 private:
  receiver& of() const noexcept { return *receiver_.get(); }
  detail::own_pointer<receiver> receiver_;
};

template <class T>
using watch = basic_watch<strength::shared, T>;
namespace unsync {
template <class T>
using watch = basic_watch<strength::unsync, T>;
}

}}  // namespace hocket
