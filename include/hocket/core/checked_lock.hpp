// checked_lock: a thread lock (std::mutex, a spin lock) that reports a coroutine that waits under it.
//
//   checked_lock<std::mutex> sessions("sessions");
//   ...
//   std::lock_guard guard(sessions);           // anything that takes a Lockable
//
// Coroutines hold a thread lock for a few instructions, and never wait under it. If a coroutine waits while it holds
// the lock, then the lock stays locked on its thread, and the next coroutine there that locks it blocks the thread, and
// so the coroutine that would unlock it. Use hocket::mutex for a lock that is held over a wait.
//
// Guarantees. At check level `debug` these are fatal:
//   - a coroutine awaits an operation or an eager task, yields or forks while its thread holds a checked lock; the
//     message names both;
//   - another thread than the locking one unlocks the lock;
//   - a lock is destroyed while it is held.
// At the other levels a checked_lock is the lock itself: not a byte or an instruction more.
//
// The check does not depend on timing: it is fatal even if the coroutine would not have to wait. In every build a ready
// operation goes through the queue if the budget is used up (core/wait/seam/operation.hpp). Calls that never wait are
// allowed under a lock: try_lock(), try_receive(), try_select(), unlock(), notify_one(). Awaiting a task is allowed,
// too: it is a call, and the awaits in it are checked.
//
// Limits. The check does not cover
//   - a plain thread that waits: it blocks, and is in no other coroutine's way;
//   - shared ownership;
//   - foreign awaitables that do not suspend;
//   - raw coroutines that yield: their owner is responsible.
//
// Thread safety: that of `Mutex`. `name` is a literal, or outlives the lock. The idea is from the Linux kernel's
// lockdep, with one rule.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/literal_name.hpp>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// The record of a checked lock, linked to the thread that holds it. Recursive locking is counted.
class lock_record {
 public:
  explicit lock_record(literal_name name) noexcept : name_(name.c_str()) {}
  lock_record(const lock_record&) = delete;
  lock_record& operator=(const lock_record&) = delete;
  ~lock_record() { debug_expects(depth_ == 0, "a checked lock was destroyed while it is held", "unlock it first"); }

  const char* name() const noexcept { return name_; }
  void on_lock() noexcept;    // called after the lock is locked
  void on_unlock() noexcept;  // called before the lock is unlocked

 private:
  const char* const name_;
  std::size_t depth_ = 0;        // this and the next field belong to the thread that holds the lock
  lock_record* next_ = nullptr;  // a lock that the same thread locked earlier
};

struct no_lock_record {
  explicit no_lock_record(literal_name) noexcept {}
  void on_lock() noexcept {}
  void on_unlock() noexcept {}
};

}  // namespace detail

// A checked thread lock; see above.
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
    record_.on_lock();
  }
  [[nodiscard]] bool try_lock() {
    if (!mutex_.try_lock()) return false;
    record_.on_lock();
    return true;
  }
  void unlock() {
    record_.on_unlock();
    mutex_.unlock();
  }

 private:
  Mutex mutex_;
  [[no_unique_address]] std::conditional_t<detail::debug_checks, detail::lock_record, detail::no_lock_record> record_;
};

}}  // namespace hocket
