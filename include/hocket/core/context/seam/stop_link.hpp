// A link between two stop sources: what is requested of the parent is requested of the child.
//
// A request goes down a tree of sources depth first, with no recursion: the tree may be of any depth. The requesting
// thread *borrows* a link under its parent's mutex, which counts it as busy; tells the child; and gives the link back
// when everything below the child is told. A link borrowed by a cancellation stays attached, now among the shielded,
// because a kill may follow; that one takes it out for good.
//
// The end of a link. Its destructor takes it out under the parent's mutex, so that nobody borrows it any more, and then
// waits until those who have borrowed it have given it back. So after the destructor nobody comes from the parent, and
// the child may be destroyed. That wait is the only one, and it ends: who holds a borrowed link fires nodes, which
// settle claims and post coroutines and wait for nobody (claim.hpp). It could wait for itself only if a fire destroyed
// the link through which it was reached; no fire of the library's runs foreign code.
//
// A link that has brought a kill does not ask its parent any more: after a kill the parent may end before its child.
//
// Locks. A request holds the mutex of one source at a time. Only a late link is made with two of them, the child's
// first, so there is no cycle. What keeps the sources on the way alive is the busy link: whoever destroys the child
// destroys the link first, and so waits.
//
// Late links. Many coroutines that are spawned end without having waited, and a link costs more than all else that such
// a one does about stops. So the source of a coroutine (late_stop_source) begins *apart*: it is linked below its parent
// when something is attached to it, or when it is asked, by the coroutine's own code; what has been requested of the
// parent by then it learns so. Nobody is to be told before: nobody waits. In the word of such a source (stop.hpp):
//
//   apart             3       nothing is attached, and nothing was requested of itself
//   apart_cancelled   3 + 4   nothing is attached, and it was cancelled itself
//   linking           + 8     the link is being made, under the mutex
//
// A kill of itself ends the first two: whatever the parent says, there is nothing more to learn from it. Any thread may
// request, and may ask or attach, which links, as long as it knows that the source is there. The coroutine ends
// (leave()) as long as the parent lives: of the two that change `apart` by compare-exchange one comes first. If that is
// the end, nobody links any more; if it is a link, the end waits until that is made, and takes it back.
#pragma once
#include <hocket/core/stop.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Both sources outlive the link, but for a parent that was killed. If something was requested of the parent already,
// the child is told at once. A link that heeds kills alone passes no cancel on.
class stop_link : private stop_node {
 public:
  stop_link(stop_source& parent, stop_source& child, min_stop_level weakest = min_stop_level::cancel) noexcept;
  stop_link(const stop_link&) = delete;
  stop_link& operator=(const stop_link&) = delete;

  // For late_stop_source: enlist() follows, if the parent is there. Without that, the link is not to be destroyed.
  struct late {};
  stop_link(stop_source* parent, stop_source& child, late) noexcept : parent_(parent), child_(child) {}

  // Any thread, but not from inside of a stop_node's fire().
  ~stop_link();

 private:
  friend class hocket::stop_source;
  friend class late_stop_source;
  static constexpr std::uint32_t leaving = 0x8000'0000;   // the destructor waits
  static constexpr std::uint32_t detached = 0x4000'0000;  // a kill has taken it out for good

  // Where a request is on its walk, and the borrowed links that lead there, the last one first.
  struct position {
    stop_source* source;
    stop_link* borrowed;
  };
  stop_level enlist(min_stop_level weakest) noexcept;
  void descend(position& walk, stop_level level) noexcept;
  void ascend(position& walk, stop_level level) noexcept;
  stop_link*& link_above(stop_level level) noexcept { return link_above_[level == stop_level::kill]; }
  void borrow() noexcept;
  void return_borrowed(stop_level level) noexcept;

  stop_source* const parent_;
  stop_source& child_;
  stop_link* link_above_[2] = {};  // on the way of a cancellation, of a kill: the link above; the borrower's own
  atomic<std::uint32_t> busy_{0};  // how often borrowed, and the two above; borrowed under the parent's mutex only
};

// The source of a coroutine, below that of its target; see "Late links" above.
class late_stop_source : public stop_source {
 public:
  // `above` outlives leave(); null: there is none.
  explicit late_stop_source(stop_source* above) noexcept
      : stop_source(above ? apart : 0), link_(above, *this, stop_link::late{}) {}
  ~late_stop_source() {}

  // What killed() tells, by the coroutine's own code, which leaves the source as it is.
  bool killed_so_far() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    const word current = word_.load(std::memory_order_acquire);
    return is_apart(current) ? link_.parent_->killed() : level_of(current) == stop_level::kill;
  }

  // At the end of the coroutine: nobody comes from above any more, and nobody goes there.
  void leave() noexcept {
    // ORDER: acquire, pairs with the store in link_up(): the link is visible.
    word current = word_.load(std::memory_order_acquire);
    while (current == apart || current == apart_cancelled) {
      // ORDER: acquire, pairs with the store in link_up(), for when it fails, as above. (When it succeeds nobody links
      // any more, and relaxed would do; but g++ takes no failure order that is stronger.)
      if (word_.compare_exchange_weak(current, 0, std::memory_order_acquire)) return;
    }
    if (is_apart(current)) wait_for_link();
    if (std::exchange(linked_, false)) link_.~stop_link();
  }

 private:
  friend class hocket::stop_source;
  static constexpr word linking = 8;
  void link_up() noexcept;
  void wait_for_link() noexcept;

  bool linked_ = false;  // set under the mutex; in what stop_source leaves of its last word
  union {
    stop_link link_;  // its parent is known from the beginning; the rest is used when it is linked
  };
};

}}}  // namespace hocket::detail
