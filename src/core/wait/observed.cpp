// The observers of the process, and their notification.
//
// Each installed observer has an *observer_slot*. A slot is never freed, so an event may touch it at any time:
//
//   event                                     remove_observer()
//   1. inside += 1                            1. watcher = null
//   2. read watcher; null: the slot is empty  2. wait until inside is the number of its own visits
//   3. call it                                3. the slot is free for others
//   4. inside -= 1
//   5. read watcher; null: wake a waiting removal
//
// Each side writes one word and then reads the other's, in one total order (seq_cst). If an event reads the observer in
// its step 2, then the removal counts the visit. If a removal counts a visit, then that visit reads null in its step 5
// and wakes the removal. Later events read null before step 1, so a removal does not starve.
//
// *A callback removes its own observer*: the removal would wait for itself. Prevented by the list of the visits of each
// thread: the removal does not wait for its own. *A slot is used again while a removal waits for it*: the removal would
// wait for the next observer's callbacks. Prevented by `taken`, which the removal clears last.
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/detail/observed.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

constinit atomic<std::uint64_t> observer_count{0};

namespace {
constexpr std::uint64_t hooked_slot_unit = std::uint64_t{1} << 32;
}  // namespace

// ORDER: relaxed, pairs with nothing: the thread of the slot's coroutine reads its own write.
void add_hooked_slot() noexcept { observer_count.fetch_add(hooked_slot_unit, std::memory_order_relaxed); }
void remove_hooked_slot() noexcept {
  // ORDER: relaxed, pairs with nothing: a coroutine without slots needs no such event.
  observer_count.fetch_sub(hooked_slot_unit, std::memory_order_relaxed);
}

struct observer_slot {
  atomic<observer*> watcher{nullptr};
  atomic<std::uint32_t> inside{0};       // visits under way
  atomic<observer_slot*> next{nullptr};  // written once
  atomic<bool> taken{false};  // guarded by slots_mutex; an atomic, as all static state must be under the model checker
};

namespace {

constinit observer_slot first_slot;
constinit thread_mutex slots_mutex;  // held by installs and removals

// ORDER: acquire, pairs with the store in append_slot(): the slot is complete.
observer_slot* next_slot(const observer_slot& slot) noexcept { return slot.next.load(std::memory_order_acquire); }

}  // namespace

// The visit of a slot by a thread, perhaps in a callback.
struct observer_visit {
  explicit observer_visit(observer_slot& slot) noexcept : slot_(slot), outer_(this_thread().visit) {
    this_thread().visit = this;
    // ORDER: seq_cst, forbids that the look at `watcher` is made before it.
    slot.inside.fetch_add(1, std::memory_order_seq_cst);
    // ORDER: seq_cst, forbids that it is made before the visit is counted; acquires the observer, see
    // install_observer().
    watcher = slot.watcher.load(std::memory_order_seq_cst);
  }
  observer_visit(const observer_visit&) = delete;
  observer_visit& operator=(const observer_visit&) = delete;
  ~observer_visit() {
    this_thread().visit = outer_;
    // ORDER: seq_cst, forbids that the look at `watcher` is made before it; releases what the callback did.
    slot_.inside.fetch_sub(1, std::memory_order_seq_cst);
    // ORDER: seq_cst, forbids that it is made before the visit is over.
    if (!slot_.watcher.load(std::memory_order_seq_cst)) futex_wake_all(slot_.inside);
  }

  // The number of visits of this slot by the thread.
  static std::uint32_t of_this_thread(const observer_slot& slot) noexcept {
    std::uint32_t count = 0;
    for (const observer_visit* visit = this_thread().visit; visit; visit = visit->outer_)
      count += &visit->slot_ == &slot;
    return count;
  }

  observer* watcher;

 private:
  observer_slot& slot_;
  observer_visit* const outer_;
};

namespace {

template <class Notify>
void for_each_observer(Notify notify) noexcept {
  for (observer_slot* slot = &first_slot; slot; slot = next_slot(*slot)) {
    // ORDER: relaxed, pairs with nothing: a look before the one that counts.
    if (!slot->watcher.load(std::memory_order_relaxed)) continue;
    const observer_visit visit(*slot);
    if (visit.watcher) notify(*visit.watcher);
  }
}

// The next three: under the lock.

// Returns null if it is not installed.
observer_slot* find_slot(const observer& watcher) noexcept {
  for (observer_slot* slot = &first_slot; slot; slot = next_slot(*slot)) {
    // ORDER: relaxed, pairs with nothing: it is written under the lock.
    if (slot->watcher.load(std::memory_order_relaxed) == &watcher) return slot;
  }
  return nullptr;
}

observer_slot& append_slot(observer_slot& last) {
  observer_slot* const created = new observer_slot;
  // ORDER: release, pairs with the load in next_slot(): the slot is complete.
  last.next.store(created, std::memory_order_release);
  return *created;
}

observer_slot& find_free_slot() {
  for (observer_slot* slot = &first_slot;; slot = next_slot(*slot)) {
    // ORDER: relaxed, pairs with nothing: under the lock.
    if (!slot->taken.load(std::memory_order_relaxed)) return *slot;
    if (!next_slot(*slot)) return append_slot(*slot);
  }
}

void await_end_of_visits(observer_slot& slot) noexcept {
  const std::uint32_t own = observer_visit::of_this_thread(slot);
  for (;;) {
    // ORDER: seq_cst, forbids that it is made before the store in clear_slot(); acquires what the callbacks did.
    const std::uint32_t inside = slot.inside.load(std::memory_order_seq_cst);
    if (inside == own) return;
    futex_wait(slot.inside, inside);
  }
}

observer_slot& clear_slot(const observer& watcher) noexcept {
  const locked guard(slots_mutex);
  observer_slot* const slot = find_slot(watcher);
  expects(slot != nullptr, "an observer was removed that is not installed", "remove it once, after install_observer()");
  // ORDER: seq_cst, forbids that the look at `inside` is made before it.
  slot->watcher.store(nullptr, std::memory_order_seq_cst);
  // ORDER: relaxed, pairs with nothing: see observed().
  observer_count.fetch_sub(1, std::memory_order_relaxed);
  return *slot;
}

}  // namespace

void notify_created(coroutine_id id, const coroutine_info& info) noexcept {
  for_each_observer([&](observer& watcher) noexcept { watcher.on_create(id, info); });
}
void notify_suspended(coroutine_id id, const wait_info& info) noexcept {
  for_each_observer([&](observer& watcher) noexcept { watcher.on_suspend(id, info); });
}
void notify_woken(coroutine_id id) noexcept {
  for_each_observer([&](observer& watcher) noexcept { watcher.on_wake(id); });
}
void notify_resumed(coroutine_id id) noexcept {
  for_each_observer([&](observer& watcher) noexcept { watcher.on_resume(id); });
}
void notify_destroyed(coroutine_id id) noexcept {
  for_each_observer([&](observer& watcher) noexcept { watcher.on_destroy(id); });
}

}  // namespace detail

void install_observer(observer& watcher) {
  using namespace detail;
  const locked guard(slots_mutex);
  expects(!find_slot(watcher), "an observer was installed twice", "remove_observer() it before");
  observer_slot& own = find_free_slot();
  // ORDER: relaxed, pairs with nothing: under the lock.
  own.taken.store(true, std::memory_order_relaxed);
  // ORDER: release, pairs with the look in observer_visit: the observer is whole.
  own.watcher.store(&watcher, std::memory_order_release);
  // ORDER: relaxed, pairs with nothing: see observed().
  observer_count.fetch_add(1, std::memory_order_relaxed);
}

void remove_observer(observer& watcher) noexcept {
  using namespace detail;
  observer_slot& slot = clear_slot(watcher);
  await_end_of_visits(slot);
  const locked guard(slots_mutex);
  // ORDER: relaxed, pairs with nothing: under the lock.
  slot.taken.store(false, std::memory_order_relaxed);
}

}}  // namespace hocket
