// A depot: the stacks of one size, shared by threads. A thread acquires and releases through a stack_pool on it.
//
// After Bonwick and Adams, "Magazines and Vmem" (USENIX 2001). Words. A *magazine* is an array of free warm stacks. A
// pool holds two, one loaded and the one before it, and takes and gives stacks there without a lock; only when both are
// empty or full it exchanges one with the depot, under the depot's lock. A *slab* is one mapping with up to 1018 stacks
// and their cells; a *run* is what a pool takes of a slab when there is no warm stack: up to 64 that lie in one word of
// the slab's map. A stack is
//
//   lent    at a pool: acquired, in a magazine or in a run of the pool
//   warm    free, in a magazine of the depot: its pages are there
//   dirty   free, in its slab, its pages are there: to be given back
//   cold    free, in its slab, without pages: never used, or given back
//
//   lent -> warm        a pool gives a full magazine (or all that it has); after that nothing of it is the pool's
//   warm -> lent        the depot gives a magazine
//   warm -> dirty       it was not needed for a period of decay; those that stay warm are of the oldest slabs
//   dirty -> cold       by MADV_DONTNEED, 64 at a time, without the lock: meanwhile they are in no state
//   dirty, cold -> lent by a run
//   a slab of which every stack is dirty or cold is unmapped, and with it the page tables
//
// release() never fails and allocates nothing: there are so many magazines that any free stack finds room. All stacks
// free and full magazines, that makes stacks/rounds; one more is being filled by single stacks; each pool brings two
// empty ones along. They are made when a slab is mapped, and freed with it.
//
// Memory is the system's, or a stack_source's (stack_source.hpp): then `dirty -> cold` is its decommit(), and a stack
// becomes lent by a run after its commit(). Each slab remembers its source.
//
// The working set. warm_'s lowest value in a period of decay is what nobody needed: at the end of the period that many
// are given back, less what shall be kept. maintain() looks whether a period is over; so does every exchange. Loops
// call it before they sleep (core/detail/housekeeping.hpp).
//
// The limit. The depot counts what it has lent, which is exact where one pool uses it. Where several do and the limit
// is so near that what they may keep free could reach it, the depot is *crowded*: pools keep nothing, every acquire and
// release goes to the depot. So with several pools a refusal may come while an idle one keeps free stacks (2 magazines
// and a run at most) from a time when it was not crowded.
//
// Waiting. A stack_waiter stands in line while nothing can be lent. A depot with waiters is crowded; the first stack
// that comes back is handed to the first of them, without the lock. Hazards. *A wake-up is lost*: a stack could be put
// into a magazine by a thread that has not yet seen that it is crowded (the word `full` is read relaxed). That thread's
// next release goes to the depot, and so does all that it holds when its loop is about to sleep, under the lock.
// *A sleeping thread keeps free stacks from a waiter*: if its thread fell asleep before the depot was crowded, a pool
// keeps its stacks until the thread wakes, which is after a period of decay (stack_pool::maintain()). Not prevented:
// without decay (duration::max()) the waiter may wait for as long as the thread sleeps.
// *A waiter is killed as it is handed a stack*: withdraw() answers under the lock which came first; if the stack did,
// wake() passes it on. *The waiter is gone when it is woken*: it was popped, so withdraw() has said false, and its
// owner keeps it until wake().
//
// What the lock protects is grouped so below. A pool's magazines and run are its thread's alone.
#pragma once
#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/detail/list.hpp>
#include <hocket/base/detail/mutex.hpp>
#include <hocket/base/result.hpp>
#include <hocket/stack/stack_options.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class stack_depot;

namespace detail {
class stack_slab;
}  // namespace detail

// What stack_depot::statistics() tells. Numbers of stacks, but for bytes.
struct depot_statistics {
  std::size_t in_use;  // at pools: acquired, or kept free by them
  std::size_t peak;   // the highest in_use
  std::size_t warm;   // free, with their pages
  std::size_t dirty;  // free, about to be given back
  std::size_t cold;   // mapped, without pages
  std::size_t slabs;
  std::size_t reserved;   // bytes of address space
  std::size_t committed;  // bytes of memory, estimated by a sample of the stacks that have any
  std::size_t unguarded;  // stacks made with a canary because no guard could be had (guard::preferred)
  std::size_t waiting;    // waiters in line now
  std::size_t waits;      // how many there have been
  std::size_t refusals;   // acquisitions that failed, for the limit or for memory
  std::size_t trimmed;    // stacks whose pages were given back
};

namespace detail {

// Somebody who wants a stack and cannot have one now. Its owner keeps it until it has been woken or withdrawn.
class stack_waiter {
 public:
  // The stack is the waiter's from then on. Runs once, without locks, on the thread that released it.
  using wake_function = void (*)(stack_waiter& self, const stack_ref& stack) noexcept;

  explicit stack_waiter(wake_function wake) noexcept : wake_(wake) {}
  stack_waiter(const stack_waiter&) = delete;
  stack_waiter& operator=(const stack_waiter&) = delete;

 private:
  friend class hocket::stack_depot;
  const wake_function wake_;
  // Guarded by the depot's lock.
  stack_waiter* next_ = nullptr;
  stack_waiter* previous_ = nullptr;
  bool is_queued_ = false;
  free_stack stack_{};
};

struct pool_stock;

// Free warm stacks, the last one the next to go. Followed in memory by the array.
struct magazine {
  magazine* next;
  std::size_t count;
  const pool_stock* last_pool;  // who filled it: the stacks are in the caches of that thread's core, if in any

  free_stack* begin() noexcept { return reinterpret_cast<free_stack*>(this + 1); }
  void push(free_stack stack) noexcept { begin()[count++] = stack; }
  free_stack pop() noexcept { return begin()[--count]; }

  static magazine* make(std::size_t rounds) noexcept;
  static void free(magazine* self) noexcept;
};

// Stacks of one slab that a pool may hand out: those of `left`, counted from `first`.
struct stack_run {
  stack_slab* slab = nullptr;
  std::size_t first = 0;
  std::uint64_t remaining = 0;
};

// What a pool holds, as the depot sees it. Its thread's own, but for `full`.
struct pool_stock : list_node {
  magazine* loaded = nullptr;
  magazine* before = nullptr;
  stack_run run;
  // Where the loaded magazine ends for release(); 0 while the depot is crowded. The depot writes it, under its lock.
  atomic<std::uintptr_t> full{0};
};

}  // namespace detail

// The stacks of one size; see above. Any thread.
class stack_depot {
 public:
  static constexpr std::size_t minimum_size = 4 * 1024;
  static constexpr std::size_t maximum_size = std::size_t{1} << 30;

  // Throws std::system_error (invalid_argument) for a stack_size of 0 or above maximum_size, and bad_alloc. Maps
  // nothing yet.
  explicit stack_depot(const stack_options& options = {});
  stack_depot(const stack_depot&) = delete;
  stack_depot& operator=(const stack_depot&) = delete;
  ~stack_depot();  // fatal while stacks are acquired, or pools are on it

  // The process's depot of guarded stacks of a size (0: of the default size): what threads' own pools are on. It is
  // never destroyed. Any thread. Throws as the constructor.
  static stack_depot& shared(std::size_t stack_size = 0);

  // The same of a class, null if it was never asked for.
  static stack_depot* shared_if_any(std::size_t size_class) noexcept;

  // Which class a size is rounded up to: 0 for minimum_size, 1 for twice as much, ... Not above maximum_size.
  static std::size_t class_of(std::size_t stack_size) noexcept;
  static constexpr std::size_t classes = 19;

  // All that follows: any thread.

  stack_options options() const noexcept;
  std::size_t stack_size() const noexcept { return options_.stack_size; }  // without a lock: it stays

  // Limits, what happens at them, what is kept warm, decay and its clock are from now on those of `options`; so is the
  // protection, and the source of memory, for slabs that are mapped from now on. Size and layout stay. A lower limit
  // takes nothing away from anybody, nor what pools keep free; a higher one serves those who wait.
  void tune(const stack_options& options) noexcept;

  // Without a pool: each takes the lock. Errors: not_enough_memory (address space, memory, or mappings for guards; or
  // the source has none), resource_unavailable_try_again (the limit). What else the system says of guards in a source's
  // memory: invalid_argument, if its pages are huge.
  [[nodiscard]] result<stack_ref> acquire() noexcept;
  void release(const stack_ref& stack) noexcept;

  // Whether somebody who was refused for the limit may wait().
  bool may_wait() const noexcept;

  enum class enlisting : std::uint8_t { waits, served, failed };
  struct enlisted {
    enlisting kind;
    stack_ref stack{};        // served: it is the caller's at once, the waiter is not in line
    std::error_code error{};  // failed: not for the limit
  };
  // In line behind those who wait already.
  enlisted wait(detail::stack_waiter& waiter) noexcept;
  // True: it is out of the line, and will not be woken. False: it was popped, and wake() has been or is being called.
  [[nodiscard]] bool withdraw(detail::stack_waiter& waiter) noexcept;

  // Gives back now what is free: the pages of every free stack, and slabs that are wholly free. What pools keep free
  // they keep (stack_pool::trim). Returns how many stacks it was. Linear in the number of free stacks.
  std::size_t trim() noexcept;

  // Does what is due of decay, at most a few thousand stacks of it. Returns in what time there is more to do;
  // duration::max() if nothing will be.
  duration maintain() noexcept;

  bool uses_clock(const clock_source& clock) const noexcept;

  // How often the terms of any depot were set: after another number maintain() may have more to do.
  // ORDER: relaxed, pairs with the fetch_add in set_terms(): a hint.
  static std::uint64_t options_version() noexcept { return options_version_.load(std::memory_order_relaxed); }

  depot_statistics statistics() const noexcept;

  // The depot and the stack of a cell that acquire() handed out, and of this the top alone, which is less work. They
  // read what does not change while the stack is lent: a signal handler may ask.
  static stack_depot& depot_of(void* cell) noexcept;
  static stack_ref stack_of(void* cell) noexcept;
  static std::byte* top_of(void* cell) noexcept;

  // The cell so many further on; null where its slab has none. It may be anybody's, or nobody's.
  static void* neighbour_of(void* cell, std::ptrdiff_t distance) noexcept;

  // Whether its memory is a stack_source's.
  static bool is_of_source(void* cell) noexcept;

  // stack_layout::copied: the cell whose owner's frames are on the stack that this one shares. The owners' own, null at
  // first.
  static void*& resident_of(void* cell) noexcept;

 private:
  friend class stack_pool;
  friend class detail::stack_slab;
  using magazine = detail::magazine;
  using free_stack = detail::free_stack;

  // --- for pools (stack_depot.cpp). `stock` is the caller's own.
  [[nodiscard]] bool enroll(detail::pool_stock& stock) noexcept;  // false: no memory for magazines
  void leave(detail::pool_stock& stock) noexcept;
  // Both magazines are empty. Fills the loaded one, or the run if that is empty, too.
  [[nodiscard]] std::error_code lend(detail::pool_stock& stock) noexcept;
  // Both magazines are full: takes the one before, gives an empty one.
  void exchange_full(detail::pool_stock& stock) noexcept;
  // Takes everything.
  void take_all(detail::pool_stock& stock) noexcept;
  // The same if anybody waits or the depot is crowded.
  void take_all_if_crowded(detail::pool_stock& stock) noexcept;
  bool has_warm() const noexcept {
    // ORDER: relaxed, pairs with nothing: a look that decides whether the lock is worth it.
    return warm_.load(std::memory_order_relaxed) != 0;
  }

  depot_statistics counts() const noexcept;  // without `committed`, which takes system calls
  // By the depot's clock.
  time_point now() const noexcept;
  duration decay() const noexcept;

  // --- under the lock (stack_depot.cpp)
  void set_terms(const stack_options& options) noexcept;
  result<free_stack> take_stack() noexcept;
  void lend_magazine(detail::pool_stock& stock) noexcept;
  magazine* pop_full(const detail::pool_stock& stock) noexcept;
  [[nodiscard]] std::error_code lend_some(detail::pool_stock& stock) noexcept;
  void put_all(detail::pool_stock& stock) noexcept;
  [[nodiscard]] std::error_code lend_run(detail::stack_run& run, std::size_t max_stacks) noexcept;
  [[nodiscard]] std::error_code grow() noexcept;
  [[nodiscard]] bool make_magazines(std::size_t needed) noexcept;
  void free_surplus_magazines() noexcept;
  void count_in_use(std::size_t more) noexcept;
  void set_warm(std::size_t count) noexcept;
  std::size_t warm() const noexcept;
  free_stack pop_warm() noexcept;
  void push_warm(free_stack stack) noexcept;
  void update_oldest_free(detail::stack_slab& slab) noexcept;
  void renew_crowded() noexcept;
  void renew(detail::pool_stock& stock) noexcept;

  // Those who are to be woken stand in a list, until the lock is free.
  detail::stack_waiter* serve() noexcept;
  void push_waiter(detail::stack_waiter& waiter) noexcept;
  void erase_waiter(detail::stack_waiter& waiter) noexcept;
  void wake(detail::stack_waiter* served) const noexcept;

  // --- giving back (depot_trim.cpp)
  struct batch;
  void tick() noexcept;                          // under the lock
  void end_period(time_point now) noexcept;      // under the lock
  void condemn(std::size_t keep) noexcept;       // under the lock
  void pick(batch& next) noexcept;               // under the lock
  void drop(detail::stack_slab& slab) noexcept;  // under the lock
  void give_back(std::size_t batches) noexcept;
  std::size_t floor() const noexcept;
  std::size_t estimate_committed() const noexcept;
  depot_statistics numbers() const noexcept;  // under the lock; without `committed`

  static primitive::atomic<std::uint64_t> options_version_;

  // Constant.
  detail::stack_geometry geometry_;
  std::size_t rounds_;    // of a magazine
  std::size_t run_size_;  // most stacks of a run

  // Written under the lock, and looked at without it.
  primitive::atomic<std::size_t> warm_{0};
  primitive::atomic<const clock_source*> clock_{nullptr};
  primitive::atomic<duration::rep> decay_{0};
  primitive::atomic<bool> may_wait_{false};
  primitive::atomic<bool> work_{false};  // something may be there to be given back

  // Guarded by mutex_.
  mutable primitive::thread_mutex mutex_;
  stack_options options_;
  std::size_t limit_ = 0;
  detail::stack_slab* oldest_ = nullptr;
  detail::stack_slab* newest_ = nullptr;
  detail::stack_slab* oldest_free_ = nullptr;  // no older one has a free stack; null: none at all has
  magazine* full_ = nullptr;
  magazine* empty_ = nullptr;
  magazine* filling_ = nullptr;  // single stacks; null before the first slab
  std::size_t magazines_ = 0;    // without those that pools brought along
  detail::list<detail::pool_stock> pools_;
  std::size_t pool_count_ = 0;
  detail::stack_waiter* first_waiter_ = nullptr;
  detail::stack_waiter* last_waiter_ = nullptr;
  bool crowded_ = false;
  std::size_t total_ = 0;      // stacks of all slabs
  std::size_t under_way_ = 0;  // in no state: pages being dropped
  std::size_t lowest_ = 0;     // of warm_ in the period
  time_point period_{};        // its beginning
  depot_statistics counts_{};
};

}}  // namespace hocket
