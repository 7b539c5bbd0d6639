// The observers of the process, and how they are told.
//
// Each installed observer has a *seat*. A seat is never freed, so an event may touch it at any time:
//
//   event                                     remove_observer()
//   1. inside += 1                            1. watcher = null
//   2. read watcher: null: nobody sits here   2. wait until inside is the number of its own visits
//   3. call it                                3. the seat is free for others
//   4. inside -= 1
//   5. read watcher: null: wake a waiting removal
//
// Each side writes one word and then reads the other's, in one total order (seq_cst). If an event reads the observer in
// its step 2, then the removal counts it. If a removal counts a visit, then that visit finds null in its step 5 and
// wakes the removal. Events that begin later find null before step 1, so a removal does not starve.
//
// *A callback removes its own observer* and would wait for itself. Prevented by the list of the visits that a thread is
// in: the removal does not wait for those. *A seat is used again while a removal waits for it*: the removal would wait
// for the next observer's callbacks. Prevented by `taken`, which the removal gives up last.
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/detail/observed.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

constinit atomic<std::uint64_t> observer_count{0};

namespace {
constexpr std::uint64_t one_slot = std::uint64_t{1} << 32;
}  // namespace

// ORDER: relaxed, pairs with nothing: the thread of the slot's coroutine reads its own write.
void add_hooked_slot() noexcept { observer_count.fetch_add(one_slot, std::memory_order_relaxed); }
void remove_hooked_slot() noexcept {
  // ORDER: relaxed, pairs with nothing: a coroutine without slots needs no such event.
  observer_count.fetch_sub(one_slot, std::memory_order_relaxed);
}

struct observer_seat {
  atomic<observer*> watcher{nullptr};
  atomic<std::uint32_t> inside{0};       // visits under way
  atomic<observer_seat*> next{nullptr};  // written once
  atomic<bool> taken{false};  // guarded by `seating`; an atomic, as all static state must be under the model checker
};

namespace {

constinit observer_seat first_seat;
constinit thread_mutex seating;  // held by installs and removals

// ORDER: acquire, pairs with the store in append_seat(): the seat is whole.
observer_seat* seat_after(const observer_seat& one) noexcept { return one.next.load(std::memory_order_acquire); }

}  // namespace

// A thread that is in a seat, and perhaps in a callback.
struct observer_visit {
  explicit observer_visit(observer_seat& at) noexcept : at_(at), outer_(this_thread().visit) {
    this_thread().visit = this;
    // ORDER: seq_cst, forbids that the look at `watcher` is made before it.
    at.inside.fetch_add(1, std::memory_order_seq_cst);
    // ORDER: seq_cst, forbids that it is made before the visit is counted; acquires the observer, see
    // install_observer().
    watcher = at.watcher.load(std::memory_order_seq_cst);
  }
  observer_visit(const observer_visit&) = delete;
  observer_visit& operator=(const observer_visit&) = delete;
  ~observer_visit() {
    this_thread().visit = outer_;
    // ORDER: seq_cst, forbids that the look at `watcher` is made before it; releases what the callback did.
    at_.inside.fetch_sub(1, std::memory_order_seq_cst);
    // ORDER: seq_cst, forbids that it is made before the visit is over.
    if (!at_.watcher.load(std::memory_order_seq_cst)) futex_wake_all(at_.inside);
  }

  // How many visits of this seat the thread is in.
  static std::uint32_t of_this_thread(const observer_seat& at) noexcept {
    std::uint32_t count = 0;
    for (const observer_visit* one = this_thread().visit; one; one = one->outer_) count += &one->at_ == &at;
    return count;
  }

  observer* watcher;

 private:
  observer_seat& at_;
  observer_visit* const outer_;
};

namespace {

template <class Tell>
void tell_all(Tell tell) noexcept {
  for (observer_seat* at = &first_seat; at; at = seat_after(*at)) {
    // ORDER: relaxed, pairs with nothing: a look before the one that counts.
    if (!at->watcher.load(std::memory_order_relaxed)) continue;
    const observer_visit visit(*at);
    if (visit.watcher) tell(*visit.watcher);
  }
}

// The next three: under the lock.

// Null: it is not installed.
observer_seat* seat_of(const observer& watcher) noexcept {
  for (observer_seat* at = &first_seat; at; at = seat_after(*at)) {
    // ORDER: relaxed, pairs with nothing: it is written under the lock.
    if (at->watcher.load(std::memory_order_relaxed) == &watcher) return at;
  }
  return nullptr;
}

observer_seat& append_seat(observer_seat& last) {
  observer_seat* const made = new observer_seat;
  // ORDER: release, pairs with the load in seat_after(): the seat is whole.
  last.next.store(made, std::memory_order_release);
  return *made;
}

observer_seat& free_seat() {
  for (observer_seat* at = &first_seat;; at = seat_after(*at)) {
    // ORDER: relaxed, pairs with nothing: under the lock.
    if (!at->taken.load(std::memory_order_relaxed)) return *at;
    if (!seat_after(*at)) return append_seat(*at);
  }
}

void await_end_of_visits(observer_seat& left) noexcept {
  const std::uint32_t own = observer_visit::of_this_thread(left);
  for (;;) {
    // ORDER: seq_cst, forbids that it is made before the store in take_from_seat(); acquires what the callbacks did.
    const std::uint32_t inside = left.inside.load(std::memory_order_seq_cst);
    if (inside == own) return;
    futex_wait(left.inside, inside);
  }
}

observer_seat& take_from_seat(const observer& watcher) noexcept {
  const locked guard(seating);
  observer_seat* const at = seat_of(watcher);
  expects(at != nullptr, "an observer was removed that is not installed", "remove it once, after install_observer()");
  // ORDER: seq_cst, forbids that the look at `inside` is made before it.
  at->watcher.store(nullptr, std::memory_order_seq_cst);
  // ORDER: relaxed, pairs with nothing: see observed().
  observer_count.fetch_sub(1, std::memory_order_relaxed);
  return *at;
}

}  // namespace

void tell_created(coroutine_id who, const coroutine_info& facts) noexcept {
  tell_all([&](observer& watcher) noexcept { watcher.on_create(who, facts); });
}
void tell_suspended(coroutine_id who, const wait_info& facts) noexcept {
  tell_all([&](observer& watcher) noexcept { watcher.on_suspend(who, facts); });
}
void tell_woken(coroutine_id who) noexcept {
  tell_all([&](observer& watcher) noexcept { watcher.on_wake(who); });
}
void tell_resumed(coroutine_id who) noexcept {
  tell_all([&](observer& watcher) noexcept { watcher.on_resume(who); });
}
void tell_destroyed(coroutine_id who) noexcept {
  tell_all([&](observer& watcher) noexcept { watcher.on_destroy(who); });
}

}  // namespace detail

void install_observer(observer& watcher) {
  using namespace detail;
  const locked guard(seating);
  expects(!seat_of(watcher), "an observer was installed twice", "remove_observer() it before");
  observer_seat& own = free_seat();
  // ORDER: relaxed, pairs with nothing: under the lock.
  own.taken.store(true, std::memory_order_relaxed);
  // ORDER: release, pairs with the look in observer_visit: the observer is whole.
  own.watcher.store(&watcher, std::memory_order_release);
  // ORDER: relaxed, pairs with nothing: see observed().
  observer_count.fetch_add(1, std::memory_order_relaxed);
}

void remove_observer(observer& watcher) noexcept {
  using namespace detail;
  observer_seat& left = take_from_seat(watcher);
  await_end_of_visits(left);
  const locked guard(seating);
  // ORDER: relaxed, pairs with nothing: under the lock.
  left.taken.store(false, std::memory_order_relaxed);
}

}}  // namespace hocket
