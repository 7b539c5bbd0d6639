// The operand of co_yield that yields all elements of another generator, or of a range.
//
//   generator<const node&> each(const node& n) {
//     co_yield n;
//     for (const node& child : n.children) co_yield elements_of(each(child));
//   }
//
// If the other generator yields the same type, the outermost reader resumes it directly, at any depth (generator.hpp).
// Any other range is iterated, and each of its elements is yielded. Cost: one more coroutine frame.
//
// This is std::ranges::elements_of with constructors (g++ 12 destroys aggregates twice in a co_yield), and without an
// allocator.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// A reference to a range. Use it only in `co_yield elements_of(...)`.
template <class Range>
class [[nodiscard("say co_yield elements_of(...)")]] elements_of {
 public:
  explicit elements_of(Range&& range) noexcept : range_(static_cast<Range&&>(range)) {}
  Range&& range() const noexcept { return static_cast<Range&&>(range_); }

 private:
  Range&& range_;
};

template <class Range>
elements_of(Range&&) -> elements_of<Range>;

}}  // namespace hocket
