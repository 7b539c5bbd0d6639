// A list with a head of one pointer: half of what a list (base/seam/list.hpp) takes while it is empty. Its elements
// are list_nodes, under the rules of list.hpp.
//
// The elements form a ring, and the head points to the first. So an element can be unlinked by the list alone, which
// must look whether the element is the first.
#pragma once
#include <hocket/base/seam/list.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T>
class short_list {
 public:
  short_list() noexcept = default;
  short_list(const short_list&) = delete;
  short_list& operator=(const short_list&) = delete;
  ~short_list() { debug_expects(empty(), "a list was destroyed with elements in it", "let its elements go first"); }

  bool empty() const noexcept { return first_ == nullptr; }
  bool begins_with(const T& element) const noexcept { return first_ == static_cast<const list_node*>(&element); }

  void push_back(T& element) noexcept {
    list_node& added = element;
    if (first_) {
      added.link_before(*first_);
    } else {
      added.next_ = added.prev_ = &added;
      first_ = &added;
    }
  }
  // There is one.
  T& front() noexcept { return static_cast<T&>(*first_); }
  T& pop_front() noexcept {
    T& first = front();
    erase(first);
    return first;
  }
  // `element` is in this list; or in another one that it does not begin.
  void erase(T& element) noexcept {
    list_node& erased = element;
    if (first_ == &erased) first_ = erased.next_ == &erased ? nullptr : erased.next_;
    erased.unlink();
  }

 private:
  list_node* first_ = nullptr;
};

}}}  // namespace hocket::detail
