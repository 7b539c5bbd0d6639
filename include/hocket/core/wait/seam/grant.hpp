// A grant: the duty to post the coroutine of one claimed wait.
//
// A source claims a waiter under its lock (waiter::claim(), core/wait/seam/suspension.hpp). From then on no other
// party ends the wait, and the memory of the wait stays valid until the grant is posted. So the source moves an item
// into or out of the wait under the lock, and calls post() after the lock. post() unlinks the wait's other
// registrations, which takes the locks of other sources. After post() the coroutine may have run and destroyed the
// wait.
//
// A grant is posted once. It can be moved, and linked with others (grants). defer() stores a grant in its waiter:
// a blocking call uses memory of the wait first, and a condition passes the wait on to its mutex. Dropping a grant is
// fatal, because its coroutine would wait for ever.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

class suspension;
class wait_source;
class waiter;

class [[nodiscard("a coroutine waits until its grant is posted")]] grant {
 public:
  grant() noexcept = default;  // empty
  grant(grant&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)), is_deferred_(other.is_deferred_) {}
  grant& operator=(grant&& other) noexcept {
    if (entry_) [[unlikely]]
      dropped();
    entry_ = std::exchange(other.entry_, nullptr);
    is_deferred_ = other.is_deferred_;
    return *this;
  }
  ~grant() {
    if (entry_) [[unlikely]]
      dropped();
  }

  // False: empty. The wait was ended by another party.
  explicit operator bool() const noexcept { return entry_ != nullptr; }

  // The waiter that won. Valid until the post.
  waiter& entry() const noexcept { return *entry_; }

  // Called without locks. Posts the coroutine to its executor. An empty grant does nothing. O(registrations of the
  // wait).
  void post() noexcept;

  // Called without locks. Unlinks the wait's other registrations, and stores the grant in the returned waiter:
  // waiter::deferred() returns it. Until then a dump shows `source` as the source of the wait. `source` outlives the
  // wait.
  [[nodiscard]] waiter& defer(const wait_source& source) noexcept;

 private:
  friend class waiter;
  friend class suspension;
  friend class grants;
  explicit grant(waiter& entry, bool deferred = false) noexcept : entry_(&entry), is_deferred_(deferred) {}
  [[noreturn, HOCKET_COLD]] static void dropped() noexcept;

  waiter* entry_ = nullptr;
  bool is_deferred_ = false;  // defer() was called: the post only drops one hold
};

// A queue of grants, first in, first out. The links are in the waits, so add() never allocates.
class grants {
 public:
  grants() noexcept = default;
  grants(const grants&) = delete;
  grants& operator=(const grants&) = delete;
  ~grants() {
    if (first_) [[unlikely]]
      grant::dropped();
  }

  bool empty() const noexcept { return first_ == nullptr; }
  // An empty grant adds nothing. A deferred grant is an error.
  void add(grant added) noexcept;
  void add(grants&& more) noexcept;
  [[nodiscard]] grant take_first() noexcept;

  // Called without locks. Posts all, in order.
  void post() noexcept {
    if (first_) [[unlikely]]
      post_all();
  }

  // Called without locks. Like post(), where a post can produce further grants: it unlinks the other registrations of a
  // select, and a source serves its queue after each removal. If this thread is already in post_in_turn(), appends the
  // grants to that call's queue. So the stack does not grow with the number of selects.
  void post_in_turn() noexcept;

 private:
  [[HOCKET_NOINLINE]] void post_all() noexcept;

  suspension* first_ = nullptr;
  suspension* last_;  // if there is a first
};

}}}  // namespace hocket::primitive
