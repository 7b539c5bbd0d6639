// The two strengths of a primitive, from one source: *shared* between threads, and *unsync*, for one thread.
//
// A primitive is a template over its strength, which defines its state word and its inner mutex. For `unsync` these are
// a plain value and nothing, so an uncontended lock is a load, a branch and a store.
//
//   hocket::mutex          = basic_mutex<strength::shared>     any thread
//   hocket::unsync::mutex  = basic_mutex<strength::unsync>     one thread
//
// The end of a wait on an unsync primitive (a grant, a cancel, a kill, a deadline) removes the wait from the
// primitive's list, so it must be on the primitive's thread. A wait that other threads may end needs the shared
// strength. At check level `debug` the use by a second thread is fatal. The first use determines the thread;
// construction and destruction do not count.
//
// For the author of a primitive: while other threads may read the word, change it by read-modify-writes only, with the
// orders of the shared strength. A store would cut the release sequence of the earlier writer that it replaces.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Finds the use by a second thread, at check level `debug`.
template <bool Checked>
class one_thread {
 public:
  void check() const noexcept {
    const void* thread = &this_thread();
    if (!user_) user_ = thread;
    expects(user_ == thread, "an unsync primitive was used by two threads",
            "use the shared one, or keep it and whatever ends its waits on one thread");
  }

 private:
  mutable const void* user_ = nullptr;
};
template <>
class one_thread<false> {
 public:
  void check() const noexcept {}
};

// The members of an atomic that primitives use, without the atomicity.
template <class T>
class plain_word {
 public:
  constexpr explicit plain_word(T value) noexcept : value_(value) {}
  plain_word(const plain_word&) = delete;
  plain_word& operator=(const plain_word&) = delete;

  T load(std::memory_order) const noexcept {
    user_.check();
    return value_;
  }
  void store(T value, std::memory_order) noexcept {
    user_.check();
    value_ = value;
  }
  T exchange(T value, std::memory_order) noexcept {
    user_.check();
    T old = value_;
    value_ = value;
    return old;
  }
  T fetch_add(T value, std::memory_order order) noexcept { return exchange(static_cast<T>(value_ + value), order); }
  T fetch_sub(T value, std::memory_order order) noexcept { return exchange(static_cast<T>(value_ - value), order); }
  bool compare_exchange_strong(T& expected, T value, std::memory_order, std::memory_order) noexcept {
    user_.check();
    if (value_ == expected) [[likely]] {
      value_ = value;
      return true;
    }
    expected = value_;
    return false;
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order won, std::memory_order lost) noexcept {
    // ORDER: forbids no reordering: the word belongs to one thread, and takes the caller's orders for their names only.
    return compare_exchange_strong(expected, value, won, lost);
  }
  T last() const noexcept { return value_; }

 private:
  T value_;
  [[no_unique_address]] one_thread<debug_checks> user_;
};

class no_mutex {
 public:
  void lock() noexcept { user_.check(); }
  void unlock() noexcept {}

 private:
  [[no_unique_address]] one_thread<debug_checks> user_;
};

}  // namespace detail

namespace strength {

struct shared {
  template <class T>
  using word = primitive::atomic<T>;
  using mutex = primitive::thread_mutex;

  // For a destructor: the final value.
  template <class T>
  static T last(const word<T>& word) noexcept {
    // ORDER: relaxed, pairs with nothing: the destruction is ordered after all uses.
    return word.load(std::memory_order_relaxed);
  }
  // For a destructor: the thread that released the last wait may still be about to leave the inner mutex.
  static void drain(mutex& inner) noexcept { primitive::locked guard(inner); }
};

struct unsync {
  template <class T>
  using word = detail::plain_word<T>;
  using mutex = detail::no_mutex;

  template <class T>
  static T last(const word<T>& word) noexcept {
    return word.last();
  }
  static void drain(mutex&) noexcept {}
};

}  // namespace strength

}}  // namespace hocket
