// elements_of: what a generator yields to hand over every value of another one, or of a range.
//
//   generator<const node&> each(const node& n) {
//     co_yield n;
//     for (const node& child : n.children) co_yield elements_of(each(child));
//   }
//
// A generator that yields the same type is resumed by the outermost reader itself, however deep it lies; see
// generator.hpp. Any other range is iterated over, and each of its elements yielded: that takes one more coroutine
// frame. It is std::ranges::elements_of with constructors (g++ 12 destroys aggregates twice in a co_yield), and without
// an allocator.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// Refers to the range: only for `co_yield elements_of(...)`.
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
