// A depot: the stacks of one size, shared by threads. A thread acquires and releases through a stack_pool on it.
//
// Source: Bonwick and Adams, "Magazines and Vmem" (USENIX 2001).
//
// Words.
// - A *magazine* is an array of free warm stacks. A pool has two, the loaded one and `before`. It takes and returns
//   stacks there without a lock. Only if both are empty or full, it exchanges one with the depot, under the depot's
//   lock.
// - A *slab* is one mapping with up to 1018 stacks and their cells.
// - A *run* is a pool's share of a slab, taken if there is no warm stack: up to 64 stacks in one word of the slab's
//   map.
//
// A stack is
//
//   lent    at a pool: acquired, in a magazine or in a run of the pool
//   warm    free, in a magazine of the depot, with its pages
//   dirty   free, in its slab, with pages that are to be released
//   cold    free, in its slab, without pages: never used, or released
//
//   lent -> warm        a pool returns a full magazine (or all its stacks): from then on the depot owns them
//   warm -> lent        the depot lends a magazine
//   warm -> dirty       not needed for a period of decay; the stacks that stay warm are in the oldest slabs
//   dirty -> cold       by MADV_DONTNEED, 64 at a time, without the lock: meanwhile they are in no state
//   dirty, cold -> lent by a run
//   a slab with only dirty or cold stacks is unmapped, and with it the page tables
//
// release() never fails and allocates nothing, because there are enough magazines for all free stacks: stacks/rounds
// full ones, one more that single stacks fill, and two empty ones of each pool. They are made when a slab is mapped,
// and freed with it.
//
// Memory is the system's or a stack_source's (stack_source.hpp). With a source, `dirty -> cold` is its decommit(), and
// a run lends a stack after its commit(). Each slab remembers its source.
//
// Decay. The lowest warm_ of a period is the number of unneeded stacks. At the end of the period that many are
// released, except the stacks to keep. maintain() and every exchange check whether a period is over. Loops call
// maintain() before they sleep (core/thread/seam/housekeeping.hpp).
//
// Limits. The depot counts lent stacks, which is exact for a single pool. With several pools, the depot is *crowded* if
// the lent stacks, together with the free stacks that these pools may keep, could reach the limit. Then pools keep
// nothing: every acquire and release goes to the depot. So with several pools an acquire may fail while an idle pool
// keeps free stacks (at most 2 magazines and a run) from a time when the depot was not crowded.
//
// Waiting. A stack_waiter is queued while no stack can be lent. A depot with waiters is crowded. The first returned
// stack is handed to the first waiter, without the lock.
//
// Hazards.
// - *A lost wake-up*: if a thread has not yet seen that the depot is crowded (it reads `full` relaxed), then it may put
//   a stack into a magazine although a waiter needs it. Prevented twice: the thread's next release goes to the depot;
//   and before the thread sleeps, its loop returns all free stacks under the lock.
// - *A sleeping thread keeps free stacks from a waiter*: if a thread fell asleep before the depot was crowded, then its
//   pool keeps its stacks until the thread wakes, which is after a period of decay (stack_pool::maintain()). Not
//   prevented: without decay (duration::max()) the waiter may wait as long as the thread sleeps.
// - *A waiter is killed while it is handed a stack*: prevented by withdraw(), which decides under the lock. If the
//   stack was first, wake() passes it on.
// - *A waiter is destroyed before it is woken*: prevented by withdraw(), which returns false for a popped waiter. Its
//   owner keeps it until wake().
//
// Members below are grouped by the lock. A pool's magazines and run belong to its thread alone.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/stack/stack_options.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class stack_depot;

namespace detail {
class stack_slab;
}  // namespace detail

// The statistics of a stack_depot. Counts of stacks, unless the comment says bytes.
struct depot_statistics {
  std::size_t in_use;  // lent to pools: acquired, or kept free by pools
  std::size_t peak;    // the highest in_use
  std::size_t warm;    // free, with their pages
  std::size_t dirty;   // free, with pages that are about to be released
  std::size_t cold;    // mapped, without pages
  std::size_t slabs;
  std::size_t reserved;   // bytes of address space
  std::size_t committed;  // bytes of memory, estimated from a sample of the stacks that have pages
  std::size_t unguarded;  // stacks made with a canary because no guard page was available (guard::preferred)
  std::size_t waiting;    // queued waiters
  std::size_t waits;      // all waiters so far
  std::size_t refusals;   // acquisitions that failed because of the limit or of memory
  std::size_t trimmed;    // stacks so far whose pages were released
};

namespace detail {

// A queued wait for a stack. Its owner keeps it alive until it has been woken or withdrawn.
class stack_waiter {
 public:
  // Passes ownership of the stack to the waiter. Runs once, without locks, on the thread that released the stack or
  // raised the limit.
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

struct magazine_cache;

// Free warm stacks, last in, first out. The array follows in memory.
struct magazine {
  magazine* next;
  std::size_t count;
  const magazine_cache* last_pool;  // the pool that filled it: its thread's core may have the stacks in its caches

  free_stack* begin() noexcept { return reinterpret_cast<free_stack*>(this + 1); }
  void push(free_stack stack) noexcept { begin()[count++] = stack; }
  free_stack pop() noexcept { return begin()[--count]; }

  static magazine* make(std::size_t rounds) noexcept;
  static void free(magazine* self) noexcept;
};

// Stacks of one slab that a pool may hand out: the set bits of `remaining`, counted from `first`.
struct stack_run {
  stack_slab* slab = nullptr;
  std::size_t first = 0;
  std::uint64_t remaining = 0;
};

// The free stacks of a pool, as the depot sees them. Owned by the pool's thread, except `full`.
struct magazine_cache : list_node {
  magazine* loaded = nullptr;
  magazine* before = nullptr;
  stack_run run;
  // The end of the loaded magazine for release(); 0 while the depot is crowded. The depot writes it, under its lock.
  atomic<std::uintptr_t> full{0};
};

}  // namespace detail

// A depot of stacks of one size, shared by threads; see above. Any thread.
class stack_depot {
 public:
  static constexpr std::size_t minimum_size = 4 * 1024;
  static constexpr std::size_t maximum_size = std::size_t{1} << 30;

  // Throws std::system_error (invalid_argument) for a stack_size of 0 or above maximum_size, and std::bad_alloc. Maps
  // no memory yet.
  explicit stack_depot(const stack_options& options = {});
  stack_depot(const stack_depot&) = delete;
  stack_depot& operator=(const stack_depot&) = delete;
  ~stack_depot();  // fatal while stacks are acquired, or pools use the depot

  // Returns the process's depot of guarded stacks of a size (0: the default size). The threads' own pools use it. It is
  // never destroyed. Any thread. Throws as the constructor does.
  static stack_depot& shared(std::size_t stack_size = 0);

  // Returns the process's depot of a size class; null if shared() never created it.
  static stack_depot* shared_if_any(std::size_t size_class) noexcept;

  // Returns the size class that a size is rounded up to: 0 for minimum_size, 1 for twice as much, ... `stack_size` is
  // at most maximum_size.
  static std::size_t class_of(std::size_t stack_size) noexcept;
  static constexpr std::size_t classes = 19;

  // Any thread may call the functions below.

  stack_options options() const noexcept;
  std::size_t stack_size() const noexcept { return options_.stack_size; }  // without a lock: it is constant

  // Applies these fields of `options` from now on: limits, when_full, the stacks kept warm, decay and its clock; for
  // slabs mapped from now on also protection and source. Size and layout do not change. A lower limit revokes no stack,
  // acquired or kept free by a pool. A higher limit serves waiters.
  void tune(const stack_options& options) noexcept;

  // Acquires and releases without a pool. Each call takes the lock.
  // Errors. not_enough_memory: no address space, memory or mappings for guards, or the source has no memory.
  // resource_unavailable_try_again: the limit. Guards in a source's memory may fail with another error of the system,
  // such as invalid_argument if its pages are huge.
  [[nodiscard]] result<stack_ref> acquire() noexcept;
  void release(const stack_ref& stack) noexcept;

  // Returns whether a caller may wait() after acquire() has failed because of the limit.
  bool may_wait() const noexcept;

  enum class enlisting : std::uint8_t { waits, served, failed };
  struct enlisted {
    enlisting kind;
    stack_ref stack{};        // served: the caller owns it at once, the waiter is not queued
    std::error_code error{};  // failed: an error other than the limit
  };
  // Enlists the waiter behind all other waiters, or serves it at once.
  enlisted wait(detail::stack_waiter& waiter) noexcept;
  // Returns true if it removed the waiter from the queue: the waiter is not woken. False: the waiter was popped before,
  // and its wake function has been called or is being called.
  [[nodiscard]] bool withdraw(detail::stack_waiter& waiter) noexcept;

  // Releases the pages of every free stack, and wholly free slabs, to the system now. Pools keep their free stacks
  // (stack_pool::trim). Returns the number of released stacks. Linear in the number of free stacks.
  std::size_t trim() noexcept;

  // Does the due work of decay, for at most a few thousand stacks. Returns the time until more work is due;
  // duration::max() if no work will be due.
  duration maintain() noexcept;

  // Returns whether decay uses that clock.
  bool uses_clock(const clock_source& clock) const noexcept;

  // Counts how often the options of any depot were set. If the number has changed, maintain() may have more to do.
  // ORDER: relaxed, pairs with the fetch_add in set_terms(): a hint.
  static std::uint64_t options_version() noexcept { return options_version_.load(std::memory_order_relaxed); }

  depot_statistics statistics() const noexcept;

  // These return the depot, the stack and the stack's top of a cell that acquire() handed out; top_of() is the
  // cheapest. They read only data that does not change while the stack is lent. A signal handler may call them.
  static stack_depot& depot_of(void* cell) noexcept;
  static stack_ref stack_of(void* cell) noexcept;
  static std::byte* top_of(void* cell) noexcept;

  // Returns the cell that is `distance` cells further on; null if the slab has no such cell. That cell may be acquired
  // or free.
  static void* neighbour_of(void* cell, std::ptrdiff_t distance) noexcept;

  // Returns whether the memory of the cell's stack comes from a stack_source.
  static bool is_of_source(void* cell) noexcept;

  // stack_layout::copied: the cell of the owner whose frames are on the shared stack. Null at first. Only the owners
  // write it.
  static void*& resident_of(void* cell) noexcept;

 private:
  friend class stack_pool;
  friend class detail::stack_slab;
  using magazine = detail::magazine;
  using free_stack = detail::free_stack;

  // --- for pools (depot_lend.cpp). `cache` belongs to the caller.
  [[nodiscard]] bool enroll(detail::magazine_cache& cache) noexcept;  // false: no memory for magazines
  void leave(detail::magazine_cache& cache) noexcept;
  // Both magazines are empty. Fills the loaded magazine, or the run if the run is empty, too.
  [[nodiscard]] std::error_code lend(detail::magazine_cache& cache) noexcept;
  // Both magazines are full. Takes the magazine `before`, and gives an empty magazine.
  void exchange_full(detail::magazine_cache& cache) noexcept;
  // Takes all free stacks of the pool.
  void take_all(detail::magazine_cache& cache) noexcept;
  // Like take_all(), if there are waiters or the depot is crowded.
  void take_all_if_crowded(detail::magazine_cache& cache) noexcept;
  bool has_warm() const noexcept {
    // ORDER: relaxed, pairs with nothing: a hint whether the lock is worth taking.
    return warm_.load(std::memory_order_relaxed) != 0;
  }

  depot_statistics counts() const noexcept;  // without `committed`, which needs system calls
  // Reads the depot's clock.
  time_point now() const noexcept;
  duration decay() const noexcept;

  // --- under the lock (stack_depot.cpp, depot_lend.cpp)
  void set_terms(const stack_options& options) noexcept;
  result<free_stack> take_stack() noexcept;
  void lend_magazine(detail::magazine_cache& cache) noexcept;
  magazine* pop_full(const detail::magazine_cache& cache) noexcept;
  [[nodiscard]] std::error_code lend_some(detail::magazine_cache& cache) noexcept;
  void put_all(detail::magazine_cache& cache) noexcept;
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
  void renew(detail::magazine_cache& cache) noexcept;

  // serve() returns a list of served waiters; wake() wakes them without the lock (depot_wait.cpp).
  detail::stack_waiter* serve() noexcept;
  void push_waiter(detail::stack_waiter& waiter) noexcept;
  void erase_waiter(detail::stack_waiter& waiter) noexcept;
  void wake(detail::stack_waiter* served) const noexcept;

  // --- release to the system (depot_trim.cpp)
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
  std::size_t rounds_;    // the capacity of a magazine
  std::size_t run_size_;  // the maximum of a run

  // Written under the lock, read without it.
  primitive::atomic<std::size_t> warm_{0};
  primitive::atomic<const clock_source*> clock_{nullptr};
  primitive::atomic<duration::rep> decay_{0};
  primitive::atomic<bool> may_wait_{false};
  primitive::atomic<bool> work_{false};  // whether there may be stacks to release

  // Guarded by mutex_.
  mutable primitive::thread_mutex mutex_;
  stack_options options_;
  std::size_t limit_ = 0;
  detail::stack_slab* oldest_ = nullptr;
  detail::stack_slab* newest_ = nullptr;
  detail::stack_slab* oldest_free_ = nullptr;  // no older slab has a free stack; null: no slab has one
  magazine* full_ = nullptr;
  magazine* empty_ = nullptr;
  magazine* filling_ = nullptr;  // single stacks; null before the first slab
  std::size_t magazines_ = 0;    // without the pools' own
  detail::list<detail::magazine_cache> pools_;
  std::size_t pool_count_ = 0;
  detail::stack_waiter* first_waiter_ = nullptr;
  detail::stack_waiter* last_waiter_ = nullptr;
  bool crowded_ = false;
  std::size_t total_ = 0;      // stacks of all slabs
  std::size_t under_way_ = 0;  // in no state: their pages are being released
  std::size_t lowest_ = 0;     // the lowest warm_ of the period
  time_point period_{};        // its beginning
  depot_statistics counts_{};
};

}}  // namespace hocket
