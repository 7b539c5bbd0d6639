// A pool: a limited number of objects that are costly to make, such as connections. One coroutine at a time uses each.
//
//   pool<connection> db({.limit = 20, .idle = 60s});
//   ...
//   auto lent = co_await or_return(within(1s, db.borrow()));          // result<pool<connection>::lease>
//   if (!lent) lent.emplace(co_await or_return(connect(address)));    // none was idle: the lease may make one
//   auto rows = co_await or_return(lent->query("select 1"));
//   co_return rows;                                                   // the connection returns to the pool here
//
// Leases. A lease is the right to use one object of the pool, or to make one. It is false while it owns none. So the
// borrower makes the object, where it can wait: in a task, a fiber or a thread. It also handles a failure to make one.
//
// Return. When a lease ends, its object returns to the pool, and the first waiter gets the next lease. If a failure
// ends the lease (an exception unwinds, the coroutine is killed, or_return() ends a task), the object is destroyed,
// because it may be in mid-use, for example a connection with half an answer. The same holds if the coroutine was
// cancelled before, or its deadline has passed. discard() always destroys the object, release() always returns it.
//
// Guarantees.
//   - First come, first served.
//   - The pool has at most `limit` objects at any time.
//   - The object used last is lent first, so superfluous objects grow old. borrow(), the end of a lease and trim()
//     destroy each object that was idle for longer than `idle`.
//   - If check() returns false for an idle object, the object is destroyed instead of lent.
//   - The thread that finds an object superfluous destroys it, outside of the pool's lock.
//
// Cancellation. A cancel, a deadline and a kill end the wait like any other wait; then nothing was taken.
//
// Thread safety. pool: any thread. unsync::pool: one thread. One thread at a time uses a lease.
//
// Lifetime. The pool must outlive its leases and the waits for them. Its earlier destruction is fatal.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/idle_list.hpp>
#include <hocket/sync/detail/permit_queue.hpp>
#include <cstddef>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// The limits of a pool, and its check.
template <class T>
struct pool_options {
  std::size_t limit = 16;               // the maximum number of objects, lent and idle; at least 1
  duration idle = duration::max();      // an object that was idle for longer is destroyed
  bool (*check)(T& object) = nullptr;   // returns whether an idle object may be lent; must not wait
  const clock_source* clock = nullptr;  // null: the machine's monotonic clock; must outlive the pool
};

namespace detail {
// Whether the next wait of the running coroutine would end at once, by a stop or a deadline.
bool is_ended() noexcept;
}  // namespace detail

template <class T, class Strength>
class basic_pool final : private detail::permit_queue<Strength> {
  using base = detail::permit_queue<Strength>;
  using owner = detail::idle_owner<T>;
  class borrowing;

  static_assert(detail::owns_nothing<pool_options<T>>);

 public:
  class lease;

  // A limit of 0 is fatal.
  explicit basic_pool(const pool_options<T>& options = {}) : base(options.limit), options_(options) {
    detail::expects(options.limit != 0, "a pool for no objects", "its limit is at least 1");
  }
  ~basic_pool() {
    if constexpr (!detail::under_model)
      detail::expects(this->has_all(options_.limit),
                      "a pool was destroyed while something of it is lent, or waited for",
                      "join the coroutines that borrow from it first");
  }

  // Waits for a lease: result<lease>.
  [[nodiscard]] primitive::operation<borrowing> borrow(call_site site = this_call_site()) noexcept {
    return primitive::operation<borrowing>(std::in_place, site, *this);
  }

  // Destroys the objects that were idle for too long; trim(true) destroys all idle objects. Returns their number.
  // Complexity: linear in the number of idle objects.
  std::size_t trim(bool all = false) noexcept { return idle_.drop(all ? time_point::max() : oldest()); }

  // Hints, outdated at once if other threads use the pool.
  std::size_t idle() const noexcept { return idle_.size(); }
  std::size_t in_use() const noexcept { return options_.limit - this->free(); }
  std::size_t limit() const noexcept { return options_.limit; }

 private:
  const char* what() const noexcept override { return "a pool"; }
  primitive::wait_source::tally counted() const noexcept override { return {"with", idle_.size(), "idle object"}; }

  time_point now() const noexcept { return (options_.clock ? *options_.clock : steady_clock()).now(); }
  // Objects returned before this time are too old.
  time_point oldest() const noexcept {
    return options_.idle == duration::max() ? time_point::min() : now() - options_.idle;
  }

  // Returns an idle object, or null. The caller holds a permit.
  owner take_idle() noexcept {
    trim();
    owner found = idle_.pop();
    while (found && options_.check && !options_.check(found->object)) found = idle_.pop();
    return found;
  }
  void return_object(owner object) noexcept {
    if (object) idle_.push(std::move(object), options_.idle == duration::max() ? time_point::max() : now());
    trim();
    this->give(1);
  }

  const pool_options<T> options_;
  detail::idle_list<T, Strength> idle_;
};

// A lease of a pool. Move-only. A move from the lease, release() and discard() end it: then it owns no object, and
// gives no right to make one.
template <class T, class Strength>
class [[nodiscard]] basic_pool<T, Strength>::lease {
 public:
  lease() noexcept = default;
  lease(lease&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), object_(std::move(other.object_)) {}
  lease& operator=(lease&& other) noexcept {
    lease old(std::move(other));
    std::swap(pool_, old.pool_);
    std::swap(object_, old.object_);
    return *this;
  }
  ~lease() {
    if (!pool_) return;
    if (detail::leaving_by_failure() || detail::is_ended()) discard();
    else release();
  }

  // Whether the lease owns an object.
  explicit operator bool() const noexcept { return static_cast<bool>(object_); }
  // Access to the object. Fatal if the lease owns none.
  T& operator*() const noexcept { return *get(); }
  T* operator->() const noexcept { return get(); }
  T* get() const noexcept {
    detail::expects(static_cast<bool>(object_), "a lease without an object was used",
                    "emplace() one where the lease is false");
    return &object_->object;
  }

  // Destroys the lease's object, if any, and makes a new one. Fatal for a lease that was moved from or has ended.
  // Throws what T's constructor throws, and bad_alloc; then the lease is false.
  template <class... Args>
  T& emplace(Args&&... args) {
    detail::expects(pool_ != nullptr, "emplace() at a lease that has ended", "borrow() another one");
    object_ = owner();
    object_ = owner(new detail::idle_object<T>(std::forward<Args>(args)...));
    return object_->object;
  }

  // Ends the lease; the object returns to the pool, also while a failure unwinds.
  void release() noexcept {
    if (auto* const pool = std::exchange(pool_, nullptr)) pool->return_object(std::move(object_));
  }
  // Ends the lease, and destroys the object.
  void discard() noexcept {
    object_ = owner();
    release();
  }

 private:
  friend class basic_pool;
  explicit lease(basic_pool& pool) noexcept : pool_(&pool), object_(pool.take_idle()) {}

  basic_pool* pool_ = nullptr;
  owner object_;
};

template <class T, class Strength>
class basic_pool<T, Strength>::borrowing {
 public:
  using value_type = lease;
  explicit borrowing(basic_pool& source) noexcept : pool_(&source) {}
  bool try_now() noexcept { return pool_->try_take(1); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return pool_->begin(wait, entry, request_);
  }
  primitive::wait_source& source() const noexcept { return *pool_; }
  result<lease> take() noexcept { return lease(*pool_); }

 private:
  basic_pool* pool_;
  typename base::request request_{1};
};

template <class T>
using pool = basic_pool<T, strength::shared>;
namespace unsync {
template <class T>
using pool = basic_pool<T, strength::unsync>;
}

}}  // namespace hocket
