// A source of waits: what waiters register with (core/wait/seam/suspension.hpp). A primitive derives from it, and so
// does a coroutine that can be joined.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

class waiter;

// The interface of a source for its waiters. Dumps call the const functions while the threads are stopped.
class wait_source {
 public:
  // The kind of the source: "mutex", "semaphore". A literal.
  virtual const char* what() const noexcept = 0;

  // The name of its subject, such as the joined coroutine. Null: there is none. Lives as long as the source.
  virtual const char* subject() const noexcept { return nullptr; }

  // The coroutine that must run before a grant is possible: the holder of the mutex, the joined coroutine. Null: it is
  // unknown, or no coroutine. For comparisons only, since the coroutine may have ended.
  virtual const void* holder() const noexcept { return nullptr; }

  // A number of its state, for people: {"held by", 3, "reader"}.
  struct tally {
    const char* words = nullptr;  // literals; null: no number
    std::size_t count = 0;
    const char* thing = nullptr;  // singular
  };
  virtual tally counted() const noexcept { return {}; }

  // Any thread, without locks: unlinks `entry`. True: it was linked, and no party will pop it.
  [[nodiscard]] virtual bool detach(waiter& entry) noexcept = 0;

  // Takes back the grant of `entry` that was never consumed, and gives it to the next waiter (a permit, an item).
  virtual void pass_on(waiter& entry) noexcept = 0;

 protected:
  ~wait_source() = default;
};

}}}  // namespace hocket::primitive
