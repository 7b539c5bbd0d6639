// A link between two stop sources: a request of the parent is also a request of the child.
//
// # A request
//
// A request visits a tree of sources depth first, without recursion: the tree may have any depth. The requesting thread
// *borrows* a link under its parent's mutex, which counts the link as busy. Then it raises the request of the child,
// and returns the link after everything below the child. A link that a cancel borrowed remains attached, now among the
// shielded nodes, because a kill may follow. A kill detaches it for ever.
//
// # The end of a link
//
// The destructor detaches the link under the parent's mutex, so no other request borrows it, and then waits until all
// borrowers have returned it. After the destructor no request of the parent reaches the child, and the child may be
// destroyed. That is the only wait, and it ends: a borrower fires nodes, which settle claims and post coroutines, and
// never wait (claim.hpp). It could wait for itself only if a fire destroyed the link by which the request reached it.
// No fire of the library runs foreign code.
//
// After a kill the link does not read its parent any more, because the parent may end before its child.
//
// # Locks
//
// A request holds the mutex of one source at a time. Only link_up() holds two of them, the child's first, so there is
// no cycle. The busy link keeps the sources on the path alive: the destructor of the child destroys the link first, and
// so waits.
//
// # Late links
//
// Many spawned coroutines end without a wait, and a link costs more than everything else that such a coroutine does
// about stops. So the source of a coroutine (late_stop_source) begins *apart*. It is linked below its parent when a
// node is attached to it, or when the coroutine's own code reads its request. The link then brings the parent's
// request. Nothing needs the request earlier, because nothing waits. In the word of such a source (stop.hpp):
//
//   apart             3       nothing is attached, and nothing was requested of this source
//   apart_cancelled   3 + 4   nothing is attached, and this source was cancelled
//   linking           + 8     the link is being made, under the mutex
//
// A kill of this source ends the first two, because no request of the parent is stronger. Any thread that knows that
// the source exists may request, read the request, or attach, which links. The coroutine ends (leave()) while the
// parent lives. The end and a link both change `apart` by compare-exchange, and one of them is first. If the end is
// first, no thread links afterwards. If a link is first, the end waits until it is made, and detaches it.
#pragma once
#include <hocket/core/stop.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Both sources outlive the link, except for a parent that was killed. A request that the parent already has is raised
// at once. A link with min_stop_level::kill passes no cancel on.
class stop_link : private stop_node {
 public:
  stop_link(stop_source& parent, stop_source& child, min_stop_level weakest = min_stop_level::cancel) noexcept;
  stop_link(const stop_link&) = delete;
  stop_link& operator=(const stop_link&) = delete;

  // For late_stop_source: enlist() follows, if there is a parent. Without it, the link must not be destroyed.
  struct late {};
  stop_link(stop_source* parent, stop_source& child, late) noexcept : parent_(parent), child_(child) {}

  // Any thread, but not from inside of a stop_node's fire().
  ~stop_link();

 private:
  friend class hocket::stop_source;
  friend class late_stop_source;
  static constexpr std::uint32_t leaving = 0x8000'0000;   // the destructor waits
  static constexpr std::uint32_t detached = 0x4000'0000;  // a kill has detached it for ever

  // The place of a request on its walk, and the last of the borrowed links that lead there.
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
  stop_link* link_above_[2] = {};  // on the path of a cancel, of a kill: the link above; the borrower's own
  atomic<std::uint32_t> busy_{0};  // the number of borrowers, and the two bits; borrowed under the parent's mutex only
};

// The source of a coroutine, below the source of its target; see "Late links" above.
class late_stop_source : public stop_source {
 public:
  // `above` outlives leave(). Null: there is none.
  explicit late_stop_source(stop_source* above) noexcept
      : stop_source(above ? apart : 0), link_(above, *this, stop_link::late{}) {}
  ~late_stop_source() {}

  // Like killed(), for the coroutine's own code, without a link.
  bool killed_so_far() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    const word current = word_.load(std::memory_order_acquire);
    return is_apart(current) ? link_.parent_->killed() : level_of(current) == stop_level::kill;
  }

  // Called at the end of the coroutine. Afterwards no request of the parent arrives, and no thread links.
  void leave() noexcept {
    // ORDER: acquire, pairs with the store in link_up(): the link is visible.
    word current = word_.load(std::memory_order_acquire);
    while (current == apart || current == apart_cancelled) {
      // ORDER: acquire, pairs with the store in link_up(), on failure, as above. (On success no thread links any
      // more, and relaxed would do; but g++ refuses a stronger order for failure.)
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

  bool linked_ = false;  // set under the mutex; in the padding of stop_source
  union {
    stop_link link_;  // the parent is set from the beginning; the rest is used when it is linked
  };
};

}}}  // namespace hocket::detail
