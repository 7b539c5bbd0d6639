// The room of a wait: its suspension and its waiter, some 220 bytes that are needed while a coroutine is suspended.
//
// g++ gives the awaiter of each `co_await` its own part of the coroutine's frame. So four successive waits would have
// four rooms, although a coroutine waits once at a time. Therefore the room of a task's wait is not a part of the
// awaiter: the spawned coroutine keeps one room, for itself and for the tasks that it awaits, from its first suspension
// to its end.
//
// The place of the room is a policy of `wait` (core/wait/seam/operation.hpp):
//   - own_room: in the awaiter. For fibers and threads, which construct the awaiter only for a wait; for selects, which
//     have several waiters; for eager bodies, children of when_all, generators and foreign coroutines, which wait
//     beside others; and for waits that must not fail, as a scope's join.
//   - shared_room: the room that the coroutine keeps. If there is none, or if another wait has it, the room is a frame
//     from the memory of frames. Without memory nothing has begun, and the await throws std::bad_alloc.
//
// Ownership. open() takes the room from the coroutine, and finish() returns it, in await_resume(). Afterwards the
// awaiter has no room, even if it lives on: in `co_await a() + co_await b()` the second wait uses the room of the
// first. If the coroutine is destroyed earlier, its awaiter destroys the contents of the room, so that a grant is
// passed on, and releases the room to the memory of frames, because the spawned coroutine may be gone.
//
// Threads. The room belongs to the strand (core/context.hpp). One thread at a time takes and stores it: while other
// code waits in the strand's context (an eager body, a task that a foreign coroutine awaits), the strand does not
// migrate (strand_state::pin()). Children that run beside each other have no strand, and so no common room.
#pragma once
#include <hocket/core/wait/seam/suspension.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct wait_room {
  // Returns null without memory. Otherwise the wait is armed.
  static wait_room* open(std::coroutine_handle<> coroutine, no_options options) noexcept;
  static wait_room* open(std::coroutine_handle<> coroutine, const wait_options& options) noexcept;
  // suspension::finish(). The coroutine keeps the room.
  wait_end finish() noexcept;
  // Instead of finish().
  void drop() noexcept;
  // Called at the end of the coroutine that keeps the room.
  static void release(wait_room* room) noexcept;

  suspension wait;  // first: the destructor of the waiter uses it
  waiter entry;

 private:
  wait_room() noexcept = default;
  ~wait_room() = default;
  template <class Options>
  static wait_room* open_as(std::coroutine_handle<> coroutine, const Options& options) noexcept;
};

// The policies. After open() has returned true, the wait is armed: finish() or drop() follows.
template <std::size_t Waiters>
class own_room {
 public:
  own_room() noexcept {}
  own_room(const own_room&) = delete;
  own_room& operator=(const own_room&) = delete;
  ~own_room() {}

  template <class Options>
  bool open(std::coroutine_handle<> coroutine, const Options& options) noexcept {
    ::new (static_cast<void*>(&storage_)) storage;
    storage_.wait.arm(coroutine, options);
    return true;
  }
  wait_end finish() noexcept { return storage_.wait.finish(); }
  // After finish() the destructors only check. A select still reads which of its waiters was granted.
  void end() noexcept {
    if constexpr (debug_checks && Waiters == 1) storage_.~storage();
  }
  void drop() noexcept { storage_.~storage(); }
  suspension& wait() noexcept { return storage_.wait; }
  waiter& entry() noexcept { return storage_.entries[0]; }

 private:
  struct storage {
    suspension wait;  // first: the destructors of the waiters use it
    waiter entries[Waiters];
  };
  union {
    storage storage_;
  };
};

class shared_room {
 public:
  shared_room() noexcept {}
  template <class Options>
  bool open(std::coroutine_handle<> coroutine, const Options& options) noexcept {
    room_ = wait_room::open(coroutine, options);
    return room_ != nullptr;
  }
  wait_end finish() noexcept { return room_->finish(); }
  void end() noexcept {}
  void drop() noexcept { room_->drop(); }
  suspension& wait() noexcept { return room_->wait; }
  waiter& entry() noexcept { return room_->entry; }

 private:
  wait_room* room_;
};

}}}  // namespace hocket::detail
