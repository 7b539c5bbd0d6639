// The wait graph of a dump: which coroutines hold locks, and which coroutines wait for each other.
//
// # Arrows
//
// An arrow leads from a waiting coroutine to the coroutine that can end its wait: the holder of the awaited mutex, or
// the joined coroutine (wait_source::holder()). Each coroutine has at most one arrow. None leads from a coroutine if
//
// - its wait is not decided yet and can end in another way: the wait has a deadline, or several sources (select);
// - the coroutine runs an eager body, which waits for something else.
//
// # Conclusions
//
//   the arrows lead                                  the coroutine
//   to a circle                                      waits for ever: only a cancel or a kill ends its wait
//   to the holder of a lock that is no member        is woken by no member: the holder has ended, or runs elsewhere
//   to another coroutine that is no member           is unknown: the other coroutine has not begun
//
// # Use
//
// The graph is built and used while all its coroutines are stopped. Other threads may still end their waits. So each
// wait is read once, and the graph shows that moment. Holders are compared, not dereferenced: a coroutine that ended
// with a lock is no member. (If a new member has the same address, the graph takes the new member for the holder. A
// guard that outlives its coroutine is a mistake anyway.)
//
// n members take O(n log n) time and 24 bytes each. Without that memory the graph is empty.
#pragma once
#include <hocket/base/seam/text_writer.hpp>
#include <hocket/core/spawn/seam/registry.hpp>

#include "runtime/platform/scratch_memory.hpp"

#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class wait_graph {
 public:
  // Has memory for `members`.
  explicit wait_graph(std::size_t members) noexcept;

  // Adds each list once, before connect().
  void add(list<scheduled>& members) noexcept;
  // Adds a list of members that may run. These members have no arrow, and count as unblocked.
  void add_unknown(list<scheduled>& members) noexcept;
  void connect() noexcept {
    connect([] { return true; });
  }
  // `may_read`: whether the waits of the members can still be read. After the first false, no more arrows are added.
  template <class Condition>
  void connect(Condition may_read) noexcept {
    sort();
    for (std::uint32_t i = 0; i < size_ && may_read(); ++i) examine(nodes_[i]);
    for (std::uint32_t i = 0; i < size_; ++i) follow(i);
  }

  // The member that holds the source for which `coroutine` waits, even if something else may end the wait; null: no
  // known member.
  const scheduled* holder_of(const scheduled& coroutine) const noexcept;

  bool has_circle() const noexcept;
  // For a graph with unknown members: the circles, and the waits that lead to one.
  void write_circles(text_writer& out) const noexcept;
  // The circles, the coroutines that wait for a member of one, and the coroutines that wait for an absent holder.
  // Writes nothing if there are none.
  void write_deadlocks(text_writer& out) const noexcept;
  // Writes a notice for each arrow of the circles. `owner_kind` is "loop" or "runtime", and `name` its name.
  void notice_circles(const char* owner_kind, const char* name) const noexcept;

 private:
  // `unblocked`: has no arrow, or no arrow that leads to a circle; also for members added by add_unknown().
  enum class fate : std::uint32_t { unknown, visiting, unblocked, on_a_circle, waits_for_a_circle, waits_for_absent };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct node {
    const scheduled* coroutine;
    const char* needs;   // name of the awaited source; a literal
    std::uint32_t next;  // index of the node that the coroutine waits for; none: no member
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
  node* const nodes_;  // sorted by address
  const std::size_t capacity_;
  std::uint32_t size_ = 0;
};

}}}  // namespace hocket::detail
