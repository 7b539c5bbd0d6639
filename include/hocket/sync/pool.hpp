// A pool: a limited number of objects that are costly to make and serve one coroutine at a time: connections, say.
//
//   pool<connection> db({.limit = 20, .idle = 60s});
//   ...
//   auto lent = co_await or_return(within(1s, db.borrow()));          // result<pool<connection>::lease>
//   if (!lent) lent.emplace(co_await or_return(connect(address)));    // none was idle: the lease may make one
//   auto rows = co_await or_return(lent->query("select 1"));
//   co_return rows;                                                   // the connection goes back here
//
// A lease is the right to use one object of the pool, or to make one: it is false until it has one. So an object is
// made where its maker can wait, in a task, a fiber or a thread, and a failure to make it is the borrower's to handle.
//
// Giving back. When a lease ends, its object goes back, and the first in line gets the lease. If it ends by a failure
// (an exception unwinds, the coroutine is killed, or_return() ends a task), the object is destroyed: it may stand in
// the middle of something, as a connection with half an answer. discard() does that by hand, give_back() the reverse.
//
// Guarantees. First come, first served. At most `limit` objects at any time. The object that was used last is lent
// first, so that those which are not needed grow old: whatever was idle for longer than `idle` is destroyed by the next
// borrow(), end of a lease or trim(). An idle object for which check() says false is destroyed instead of lent. A
// cancel, a deadline and a kill end the wait like any other; nothing was taken then. Objects are destroyed by the
// thread that finds them superfluous, outside of the pool's lock.
//
// Threads: pool, any thread; unsync::pool, one. The pool must outlive its leases: else it is fatal. A lease is used by
// one thread at a time.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/idle_list.hpp>
#include <hocket/sync/detail/permit_line.hpp>
#include <cstddef>
#include <utility>

namespace hocket::inline HOCKET_ABI {

// What may be said of a pool.
template <class T>
struct pool_options {
  std::size_t limit = 16;              // objects at most, lent and idle; at least 1
  duration idle = duration::max();     // one that nobody has borrowed for so long is destroyed
  bool (*check)(T& object) = nullptr;  // whether an idle one may be lent; must not wait
  const clock_source* time = nullptr;  // by which; null: the machine's monotonic clock. Outlives the pool
};

namespace detail {
// Whether the next wait of the code that runs here is ended before it begins.
bool is_ended() noexcept;
}  // namespace detail

template <class T, class Strength>
class basic_pool final : private detail::permit_line<Strength> {
  using base = detail::permit_line<Strength>;
  using owner = detail::idle_owner<T>;
  class borrowing;

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

  // Waits for one: result<lease>.
  [[nodiscard]] primitive::operation<borrowing> borrow(call_site at = this_call_site()) noexcept {
    return primitive::operation<borrowing>(std::in_place, at, *this);
  }

  // Destroys what was idle for too long; trim(true): all that is idle. Returns how many. Linear in the idle ones.
  std::size_t trim(bool all = false) noexcept { return idle_.drop(all ? time_point::max() : oldest()); }

  // Outdated at once if others use the pool.
  std::size_t idle() const noexcept { return idle_.size(); }
  std::size_t lent() const noexcept { return options_.limit - this->free(); }
  std::size_t limit() const noexcept { return options_.limit; }

 private:
  const char* what() const noexcept override { return "a pool"; }
  primitive::wait_source::tally counted() const noexcept override { return {"with", idle_.size(), "idle object"}; }

  time_point now() const noexcept { return (options_.time ? *options_.time : steady_clock()).now(); }
  // What was given back before this is too old.
  time_point oldest() const noexcept {
    return options_.idle == duration::max() ? time_point::min() : now() - options_.idle;
  }

  // For who has a permit: an idle object, or null.
  owner take_idle() noexcept {
    trim();
    owner found = idle_.pop();
    while (found && options_.check && !options_.check(found->object)) found = idle_.pop();
    return found;
  }
  void take_back(owner object) noexcept {
    if (object) idle_.push(std::move(object), options_.idle == duration::max() ? time_point::max() : now());
    trim();
    this->give(1);
  }

  const pool_options<T> options_;
  detail::idle_list<T, Strength> idle_;
};

// Move-only. Empty after a move, give_back() and the like: then it is no right any more.
template <class T, class Strength>
class [[nodiscard]] basic_pool<T, Strength>::lease {
 public:
  lease() noexcept = default;
  lease(lease&& other) noexcept : from_(std::exchange(other.from_, nullptr)), object_(std::move(other.object_)) {}
  lease& operator=(lease&& other) noexcept {
    lease old(std::move(other));
    std::swap(from_, old.from_);
    std::swap(object_, old.object_);
    return *this;
  }
  ~lease() {
    if (!from_) return;
    if (detail::leaving_by_failure() || detail::is_ended()) discard();
    else give_back();
  }

  // Whether it has an object.
  explicit operator bool() const noexcept { return static_cast<bool>(object_); }
  T& operator*() const noexcept { return *get(); }
  T* operator->() const noexcept { return get(); }
  T* get() const noexcept {
    detail::expects(static_cast<bool>(object_), "a lease without an object was used",
                    "emplace() one where the lease is false");
    return &object_->object;
  }

  // Makes the object; one that it has is destroyed first. Without the right to one (a lease that was moved from, or has
  // ended) fatal. Throws what T's constructor throws, and bad_alloc; the lease is false then.
  template <class... Args>
  T& emplace(Args&&... args) {
    detail::expects(from_ != nullptr, "emplace() at a lease that has ended", "borrow() another one");
    object_ = owner();
    object_ = owner(new detail::idle_object<T>(std::forward<Args>(args)...));
    return object_->object;
  }

  // Ends the lease; the object goes back, also while a failure unwinds.
  void give_back() noexcept {
    if (auto* const from = std::exchange(from_, nullptr)) from->take_back(std::move(object_));
  }
  // Ends the lease, and destroys the object.
  void discard() noexcept {
    object_ = owner();
    give_back();
  }

 private:
  friend class basic_pool;
  explicit lease(basic_pool& from) noexcept : from_(&from), object_(from.take_idle()) {}

  basic_pool* from_ = nullptr;
  owner object_;
};

template <class T, class Strength>
class basic_pool<T, Strength>::borrowing {
 public:
  using value_type = lease;
  explicit borrowing(basic_pool& from) noexcept : from_(&from) {}
  bool try_now() noexcept { return from_->try_take(1); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return from_->begin(wait, entry, request_);
  }
  primitive::wait_source& source() const noexcept { return *from_; }
  result<lease> take() noexcept { return lease(*from_); }

 private:
  basic_pool* from_;
  typename base::request request_{1};
};

template <class T>
using pool = basic_pool<T, strength::shared>;
namespace unsync {
template <class T>
using pool = basic_pool<T, strength::unsync>;
}

}  // namespace hocket::inline HOCKET_ABI
