// The inbox of a thread: any thread posts runnables, the owner takes them, and sleeps while there are none.
//
// # The word
//
//   empty      the owner runs                              0
//   asleep     the owner sleeps, or is about to            1
//   nudged     the owner shall check once more             2
//   a list     of runnables, last in first                 the address of its first
//
// # Protocol
//
//   owner                                           any other thread
//   1. take(): exchange the word with empty;        post(): push a runnable, or a list, in place of the word
//      a list -> run it                             (asleep and nudged count as empty)
//   2. check the conditions that a nudge is for     nudge(): the condition is true already; then empty becomes
//   3. sleep(): compare-exchange empty -> asleep;   nudged, and asleep empty; a list is written again
//      fails -> go to 1                             either: if the word was asleep, wake the parker
//   4. park; woken -> go to 1
//   5. timed out: compare-exchange asleep -> empty;
//      fails -> wait for the wake alone; go to 1
//
// An owner that waits by other means (in a foreign event loop, where the wake makes a descriptor readable) does step 3
// by begin_sleep(), then waits, then does step 5 by end_sleep(), whatever ended its wait.
//
// # No wake-up is lost
//
// The sleep is announced in the word that every other thread changes. So another thread is either before step 3, which
// then fails, or reads the announcement. A nudge writes the word even if the value does not change: the owner takes
// that list later, by an exchange that reads the write of the nudge, and so the condition is visible. (A plain load in
// nudge() would not suffice: the loaded list may have been taken long ago.)
//
// Each announcement is answered by exactly one wake, unless the owner takes it back: only the thread that replaced
// `asleep` wakes. Hence step 5: if the owner cannot take the announcement back, then another thread has replaced it and
// its wake is under way. The owner waits for that wake. Otherwise the wake could touch a destroyed parker, or end a
// later sleep in place of a wake that is still to follow.
//
// # Who may touch what, when
//
// - A thread that did not replace `asleep` touches nothing after its compare-exchange.
// - A thread that did touches the inbox and the parker until its wake() takes effect. The owner stays in step 4 or 5
//   until then. So the owner may destroy both after it has run the last runnable that can reach them.
// - A nudger has no runnable in the inbox. It must know by other means that the owner exists.
//
// The announcement is released and acquired, although it carries no data. Otherwise the parker's store `woken` = 0 of
// one sleep could overwrite the 1 that answers the next.
#pragma once
#include <hocket/core/parker.hpp>
#include <hocket/core/thread/seam/runnable.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class inbox {
 public:
  // The owner sleeps in `parker`. Only this inbox wakes that parker.
  explicit inbox(parker& parker) noexcept : parker_(&parker) {}
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;

  // Owner, while no sleep is announced: sets the parker of the next sleep (driver_slot.hpp, Adoption).
  void set_parker(parker& parker) noexcept { parker_ = &parker; }

  // Any thread; lock-free, unless it must wake the owner.
  void post(runnable& work) noexcept { push(work, work); }
  void post_all(const runnables& works) noexcept;  // at least one

  // Any thread: makes the owner return from sleep(), or from the next sleep() at once. For conditions that are no
  // runnables: a request to stop, a timer of another thread. Writes before the call are visible to the owner after its
  // next take(), which also consumes the nudge. So the owner must check the condition after take() and before sleep().
  // The inbox must exist until the call returns.
  void nudge() noexcept;

  // Owner: takes all runnables, first posted first, linked by `next`; null if there are none. Then it costs one load.
  [[nodiscard]] runnable* take() noexcept;

  // Owner: sleeps until a post or a nudge since the last take(), until `until`, or until the parker returns for a
  // reason of its own. The caller then takes. False: there was no post and no nudge.
  bool sleep(time_point until) noexcept;

  // Owner: the two halves of sleep(), for waits outside of the parker. begin_sleep() announces the sleep; false: there
  // was a post or a nudge since the last take(), and nothing is announced. end_sleep(), called once for each
  // announcement, takes it back (false), or consumes the wake that answered it (true), and waits for that wake if it is
  // still under way.
  [[nodiscard]] bool begin_sleep() noexcept;
  bool end_sleep() noexcept;

  // Owner: the number of sleeps that another thread's wake ended, by a system call.
  std::size_t wakes() const noexcept { return wakes_; }

  // Any thread: whether the owner sleeps, or is about to, and there was no post since. May be outdated at once.
  bool owner_sleeps() const noexcept {
    // ORDER: acquire, pairs with the compare-exchange in sleep(): what the owner did before is visible.
    return word_.load(std::memory_order_acquire) == asleep;
  }

 private:
  using word = std::uintptr_t;
  static constexpr word empty = 0, asleep = 1, nudged = 2;

  // `newest` to `oldest` are linked by `next`.
  void push(runnable& newest, runnable& oldest) noexcept;

  parker* parker_;
  std::size_t wakes_ = 0;
  atomic<word> word_{empty};
};

}}}  // namespace hocket::detail
