// The operand of co_yield that yields all elements of another generator, or of a range.
//
//   generator<const node&> each(const node& n) {
//     co_yield n;
//     for (const node& child : n.children) co_yield elements_of(each(child));
//   }
//
// If the other generator yields the same type, the consumer resumes it directly, however deeply generators are nested
// (generator.hpp). Pass it as an rvalue, before its begin(). For a range of another type, whose elements convert to the
// yielded type, an extra generator iterates the range. This costs one coroutine frame.
//
// It is like std::ranges::elements_of, but has a constructor, because g++ 12 destroys an aggregate in a co_yield twice.
// It takes no allocator.
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
