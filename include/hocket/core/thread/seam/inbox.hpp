// The inbox of a thread: any number of threads post runnables, the one that owns it takes them, and sleeps when there
// is nothing to take.
//
// One word says it all:
//
//   empty      the owner runs                              0
//   asleep     the owner sleeps, or is about to            1
//   nudged     the owner shall look around once more       2
//   a list     of runnables, last in first                 the address of its first
//
//   owner                                           any other thread
//   1. take(): exchange the word with empty;        post(): push one, or a list, in place of what the word holds
//      a list -> run it                             (asleep and nudged count as empty)
//   2. look at whatever a nudge may be about        nudge(): what it is about is done; then empty becomes nudged, and
//   3. sleep(): compare-exchange empty -> asleep;   asleep empty; a list stays, but is written again
//      fails -> something came, go to 1             either: if the word was asleep, wake the parker
//   4. park; woken -> go to 1
//   5. timed out: compare-exchange asleep -> empty;
//      fails -> wait for the wake alone; go to 1
//
// An owner that waits by other means (in an event loop that is not hocket's, where the wake makes a descriptor
// readable) does step 3 by begin_sleep(), then waits as it likes, then does step 5 by end_sleep(), whatever has ended
// its wait.
//
// No wake-up is lost. The sleep is announced in the word that every other thread changes, so another thread either
// comes before step 3, which then fails, or sees the announcement. A nudge changes the word even where it leaves the
// same value behind: the owner takes that list later, by an exchange that reads what the nudge wrote, and so sees what
// the nudge is about. (Only to look at the word would not do: the list that is seen may have been taken long ago.)
//
// An announcement is answered by one wake, exactly, unless it is taken back: only the thread that replaced `asleep`
// wakes. Hence step 5: if the announcement cannot be taken back, somebody has replaced it and his wake is under way.
// The owner waits for it. Otherwise the wake would touch a parker that may be gone, or end a later sleep and then stand
// for an answer which is still to come.
//
// Who may touch what, when. A thread that did not replace `asleep` touches nothing after its compare-exchange. One that
// did touches the inbox and the parker until its wake() takes effect, and the owner does not leave step 4 or 5 before
// that. So the owner may destroy both as soon as it has run the last runnable that can reach them. A nudger has no
// runnable in the inbox: it must know by other means that the owner is still there.
//
// The announcement is released and acquired, though it carries no data: otherwise the parker's `woken` = 0 of one sleep
// could overwrite the 1 that answers the next.
#pragma once
#include <hocket/core/parker.hpp>
#include <hocket/core/thread/seam/runnable.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class inbox {
 public:
  // The owner sleeps in `bed`, which nobody but this inbox wakes.
  explicit inbox(parker& parker) noexcept : parker_(&parker) {}
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;

  // Owner, while no sleep is announced: the next sleep is in another one (driver_slot.hpp, Adoption).
  void set_parker(parker& parker) noexcept { parker_ = &parker; }

  // Any thread; lock-free, unless it must wake the owner.
  void post(runnable& work) noexcept { push(work, work); }
  void post_all(const runnables& works) noexcept;  // not none

  // Any thread: makes the owner return from sleep(), or from the next one at once. For what is not a runnable: a
  // request to stop, a timer that another thread brought. What the caller did before is visible to the owner after its
  // next take(), which also uses the nudge up: so the owner looks for it after take() and before sleep(), or misses it.
  // The caller knows that the inbox is there until this returns.
  void nudge() noexcept;

  // Owner: everything, first posted first, linked by `next`; null if there is nothing. Costs one load then.
  [[nodiscard]] runnable* take() noexcept;

  // Owner: returns when something was posted or nudged since the last take(), at `until`, or when the parker has a
  // reason of its own. The caller then takes. False: nothing was posted or nudged.
  bool sleep(time_point until) noexcept;

  // Owner: the two halves of it, for waits in between that are not the parker's. begin_sleep() announces the sleep;
  // false: something has come since the last take(), nothing is announced. end_sleep(), once for each announcement,
  // takes it back, or the wake that has answered it (true): that one is perhaps still under way, and then waited for.
  [[nodiscard]] bool begin_sleep() noexcept;
  bool end_sleep() noexcept;

  // Owner: how many sleeps were ended by another thread's wake, a system call.
  std::size_t wakes() const noexcept { return wakes_; }

  // Any thread: whether the owner sleeps, or is about to, and nothing has come since. By then it may be otherwise.
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
