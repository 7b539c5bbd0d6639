// Who waits for whom: what a dump says of locks that are held, and of coroutines that wait for one another.
//
// An arrow leads from a coroutine to the one that must go on before it can: the holder of the mutex that it waits for,
// or the coroutine that it joins (wait_source::holder()). A wait that may end otherwise has none, before
// it is decided: one with a deadline, and one for several things at once (select). Nor has a coroutine with an eager
// body under way, which waits for something else. So each coroutine has at most one arrow. Those on a circle wait for
// ever, and so do those whose arrows lead there: only a cancel or a kill ends their waits. Whose arrow leads to the
// holder of a lock that is not among the members, or to one whose arrow does, is not woken by any of them: that holder
// has ended, or is elsewhere. An arrow to another coroutine that is not among them (it has not begun, say) tells
// nothing.
//
// Made and used while all coroutines in it stand still. Their waits may be ended meanwhile, by other threads: so each
// is looked at once, and what is told later was so then. Holders are compared, not followed: a coroutine that has ended
// with a lock in somebody's hands is no member. (If a member lies where that one lay, it is taken for it: a guard that
// outlives its coroutine is a mistake, and looks like one.) n members take O(n log n) and 24 bytes each; where there is
// no memory for it, nothing is known.
#pragma once
#include <hocket/base/seam/text_writer.hpp>
#include <hocket/core/spawn/seam/registry.hpp>

#include "runtime/platform/scratch_memory.hpp"

#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class wait_graph {
 public:
  // Room for that many members.
  explicit wait_graph(std::size_t members) noexcept;

  // Each list once, then connect().
  void add(list<scheduled>& members) noexcept;
  // The same for members in motion: they have no arrow, and nothing is known of them.
  void add_unknown(list<scheduled>& members) noexcept;
  void connect() noexcept {
    connect([] { return true; });
  }
  // `may_read`: whether the waits of the members can be read still. From the first no on, no more arrows are found.
  template <class Condition>
  void connect(Condition may_read) noexcept {
    sort();
    for (std::uint32_t i = 0; i < size_ && may_read(); ++i) examine(nodes_[i]);
    for (std::uint32_t i = 0; i < size_; ++i) follow(i);
  }

  // Who holds what `one` waits for, whatever may end the wait; null: nobody that is known.
  const scheduled* holder_of(const scheduled& coroutine) const noexcept;

  bool has_circle() const noexcept;
  // For a graph with unknown members: the circles, and the waits that lead to one.
  void write_circles(text_writer& out) const noexcept;
  // The circles, who waits for those on them, and who waits for nobody here. Nothing, if there are none.
  void write_deadlocks(text_writer& out) const noexcept;
  // The circles as notices, one for each arrow; `whose` ends, a "loop" or a "runtime" of that name.
  void notice_circles(const char* owner_kind, const char* name) const noexcept;

 private:
  // `goes_on`: has no arrow, or none that leads to a circle; also of members of which nothing is known.
  enum class fate : std::uint32_t { unknown, visiting, unblocked, on_a_circle, waits_for_a_circle, waits_for_absent };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct node {
    const scheduled* coroutine;
    const char* needs;   // what it waits for; a literal
    std::uint32_t next;  // whom it waits for; none: nobody here
    fate end;
  };

  void add(list<scheduled>& members, fate initial) noexcept;
  void sort() noexcept;
  void examine(node& visited) noexcept;
  std::uint32_t index_of(const void* coroutine) const noexcept;
  void follow(std::uint32_t from) noexcept;
  void mark_path(std::uint32_t from, fate end) noexcept;
  void mark_circle(std::uint32_t from) noexcept;
  void write_circle(text_writer& out, std::uint32_t from) const noexcept;
  void write_waits(text_writer& out, fate end, const char* headline) const noexcept;
  void write_arrow(text_writer& out, const node& from) const noexcept;

  scratch_memory memory_;
  node* const nodes_;  // by address
  const std::size_t capacity_;
  std::uint32_t size_ = 0;
};

}}}  // namespace hocket::detail
