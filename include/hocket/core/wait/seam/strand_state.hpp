// The state of a strand: what the waits of a spawned coroutine read and write.
//
// A strand is a spawned coroutine that runs one step at a time (context::strand()). A strand_state is a base of its
// scheduled coroutine (core/spawn/seam/scheduled.hpp), which adds the target, the join and the result. Waits know the
// strand_state alone: the context, the stop source, the present wait, the room of its waits, whether the coroutine may
// migrate, and whether it is being unwound.
//
// One address. A strand_state, its scheduled coroutine and its wait_source have the same address. It identifies the
// coroutine for observers, locks and dumps. The first base with virtual functions is first in an object. So the
// wait_source is a base here, although the scheduled coroutine implements it: it is the source of waits for its end.
//
// Layout. The stop source lies next to the context: most yields read one line of the cache. The words that each wait
// writes follow. The last word has a free byte, which a derived class uses.
//
// Thread safety. Any thread: kind(), id(), request(), request_time_out(), timed_out(). The other functions are for the
// coroutine's own code and for its executor, on the coroutine's own thread. A dump reads while the threads are stopped.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/context/seam/stop_link.hpp>
#include <hocket/core/observer.hpp>
#include <hocket/core/thread/seam/frame.hpp>
#include <hocket/core/wait/detail/wait_source.hpp>
#include <cstdint>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

namespace primitive {
class suspension;
}  // namespace primitive

namespace detail {

struct wait_room;

// The next two are bases, so that they lie behind the context in this order.
struct own_stop {
  explicit own_stop(stop_source* parent) noexcept : own_stop_(parent) {}
  late_stop_source own_stop_;
};
struct own_wait {
  const suspension* waits_ = nullptr;
  wait_room* room_ = nullptr;
};

class strand_state : public context, protected own_stop, protected own_wait, protected primitive::wait_source {
 public:
  coroutine_kind kind() const noexcept { return kind_; }
  coroutine_id id() const noexcept { return coroutine_id(this); }

  // Whether any thread of its home may resume it: a task that was spawned on a runtime, or a migratable fiber there.
  // From its first run on. Other fibers remain on the thread of their first run.
  bool migrates() const noexcept { return migrates_ && pins_ == 0; }
  // From pin() to unpin() it does not migrate. Called for a part of the coroutine that waits by itself (an eager body),
  // because the state that the parts share is not protected. Calls are counted.
  void pin() noexcept { ++pins_; }
  void unpin() noexcept { --pins_; }
  // Whether it is pinned. Then waiting_for() may be the wait of a part.
  bool in_parts() const noexcept { return pins_ != 0; }
  // For a fiber: sets whether it migrates from now on; before its first run: if it can. Returns the previous value.
  bool set_migratable(bool migrates) noexcept { return std::exchange(migrates_, migrates); }

  // Requests a stop: its waits end with operation_canceled, or by unwinding.
  void request(stop_level level) noexcept { own_stop_.request(level); }
  // Reports that a deadline has passed which another party tracks. A cancel; but the waits of the coroutine and of its
  // children in scopes end with timed_out, unless it was stopped before.
  void request_time_out() noexcept { own_stop_.request_time_out(); }
  bool timed_out() const noexcept { return own_stop_.timed_out(); }
  stop_level requested() const noexcept { return own_stop_.requested(); }
  bool killed() const noexcept { return own_stop_.killed(); }
  bool may_be_stopped() const noexcept { return own_stop_.may_be_requested(); }
  void prefetch() const noexcept { hocket::detail::prefetch(&own_stop_); }  // the memory that killed() reads

  // The present wait. Null: there is none.
  const suspension* waiting_for() const noexcept { return waits_; }
  void waits(const suspension& wait) noexcept { waits_ = &wait; }
  void runs_again() noexcept { waits_ = nullptr; }

  // The room of its waits, between two waits (core/wait/seam/wait_room.hpp). Null: it has no room, or a wait uses it.
  wait_room* take_room() noexcept { return std::exchange(room_, nullptr); }
  // False: it has a room already.
  [[nodiscard]] bool store_room(wait_room& room) noexcept {
    if (room_) return false;
    room_ = &room;
    return true;
  }

  bool unwinding() const noexcept { return unwinding_; }
  void begin_unwinding() noexcept { unwinding_ = true; }
  void end_unwinding() noexcept { unwinding_ = false; }  // of a part that others may still await: an eager body
  // Called before the code of the coroutine waits.
  void expect_no_unwinding(const std::source_location& location = {}) const noexcept {
    expects(!unwinding_, "code waited while its coroutine was being killed",
            "destructors and catch (...) blocks that unwinding runs must not wait", name(), location);
  }

 protected:
  // `maker` gives the bindings.
  [[HOCKET_ALWAYS_INLINE]] strand_state(context& parent, coroutine_kind kind, literal_name name, time_point deadline,
                                        const context& maker, std::source_location spawned, disposer dispose) noexcept
      : context(parent, {name, &own_stop_, deadline}, maker, spawned, this, dispose),
        own_stop(parent.stop()),
        kind_(kind) {}
  ~strand_state() = default;

 private:
  std::uint32_t pins_ = 0;
  const coroutine_kind kind_;

 protected:
  bool migrates_ = false;

 private:
  bool unwinding_ = false;
};

}  // namespace detail

}}  // namespace hocket
