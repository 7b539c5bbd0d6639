// A lock of threads (std::mutex, a spin lock) that coroutines take for a few instructions, and never wait under.
//
//   checked_lock<std::mutex> sessions("sessions");
//   ...
//   std::lock_guard held(sessions);            // anything that takes a Lockable
//
// A lock of threads that a coroutine holds while it waits stays locked on its thread; the next coroutine there that
// wants it blocks the thread, and with it the one that would unlock it. At check level `debug` a coroutine that awaits
// an operation or an eager task, yields or forks while its thread holds a checked lock is fatal, and the message names
// both. So is unlocking on another thread than the one that locked, and destroying a lock that is held. At the other
// levels it is the lock itself: not a byte or an instruction more.
//
// It is fatal whether the coroutine would have to wait or not: that is a matter of timing, and in every build an
// operation that is possible at once goes through the queue nevertheless if the budget is used up
// (core/detail/operation.hpp). What never waits may be called under a lock: try_lock(), try_receive(), try_select(),
// unlock(), notify_one(). So may a task be awaited: it is a call, and what it awaits is looked at.
//
// What it does not see: a plain thread that waits (it blocks, and nobody else is in its way), shared ownership, foreign
// awaitables that do not suspend, and raw coroutines that yield, whose owner knows what it does. A lock that is to be
// held over a wait is hocket::mutex.
//
// Thread safety: that of `Mutex`. `name` is a literal, or outlives the lock. The idea is that of the Linux kernel's
// lockdep, with one rule.
#pragma once
#include <hocket/base/detail/literal_name.hpp>
#include <hocket/base/fatal.hpp>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// A checked lock as the thread knows it that holds it; recursive ones count.
class lock_record {
 public:
  explicit lock_record(literal_name name) noexcept : name_(name.c_str()) {}
  lock_record(const lock_record&) = delete;
  lock_record& operator=(const lock_record&) = delete;
  ~lock_record() { debug_expects(depth_ == 0, "a checked lock was destroyed while it is held", "unlock it first"); }

  const char* name() const noexcept { return name_; }
  void locked() noexcept;    // after it was locked
  void unlocked() noexcept;  // before it is unlocked

 private:
  const char* const name_;
  std::size_t depth_ = 0;        // the rest belongs to the thread that holds it
  lock_record* next_ = nullptr;  // held by the same thread, locked earlier
};

struct no_lock_record {
  explicit no_lock_record(literal_name) noexcept {}
  void locked() noexcept {}
  void unlocked() noexcept {}
};

}  // namespace detail

template <class Mutex>
class checked_lock {
 public:
  explicit checked_lock(literal_name name = "a lock of threads") noexcept(
      std::is_nothrow_default_constructible_v<Mutex>)
      : record_(name) {}
  checked_lock(const checked_lock&) = delete;
  checked_lock& operator=(const checked_lock&) = delete;

  void lock() {
    mutex_.lock();
    record_.locked();
  }
  [[nodiscard]] bool try_lock() {
    if (!mutex_.try_lock()) return false;
    record_.locked();
    return true;
  }
  void unlock() {
    record_.unlocked();
    mutex_.unlock();
  }

 private:
  Mutex mutex_;
  [[no_unique_address]] std::conditional_t<detail::debug_checks, detail::lock_record, detail::no_lock_record> record_;
};

}}  // namespace hocket
