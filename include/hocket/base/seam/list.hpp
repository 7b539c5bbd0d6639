// An intrusive doubly linked list: the links live in the element, so that linking never allocates and unlinking needs
// only the element.
//
// The list does not own its elements. An element is in at most one list at a time, must leave it before it dies, and
// must not move while it is linked. Nothing here is synchronised. At check level `debug` breaking these rules is fatal.
#pragma once
#include <hocket/base/fatal.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The base class of elements of a list. Copying or moving an element does not copy its links.
class list_node {
 public:
  constexpr list_node() noexcept = default;
  constexpr list_node(const list_node&) noexcept {}
  constexpr list_node& operator=(const list_node&) noexcept { return *this; }
  ~list_node() {
    debug_expects(!linked(), "a linked list_node was destroyed", "erase it from its list before it dies");
  }

  // Whether it is in a list now.
  bool linked() const noexcept { return next_ != nullptr; }

 private:
  template <class T>
  friend class list;
  template <class T>
  friend class short_list;

  void link_before(list_node& place) noexcept {
    debug_expects(!linked(), "a list_node was inserted twice",
                  "erase it from its first list before inserting it again");
    next_ = &place;
    prev_ = place.prev_;
    prev_->next_ = this;
    place.prev_ = this;
  }
  void link_alone() noexcept {
    debug_expects(!linked(), "a list_node was inserted twice",
                  "erase it from its first list before inserting it again");
    next_ = prev_ = this;
  }
  void unlink() noexcept {
    debug_expects(linked(), "a list_node that is in no list was erased", "ask linked() first");
    prev_->next_ = next_;
    next_->prev_ = prev_;
    next_ = prev_ = nullptr;
  }

  list_node* next_ = nullptr;
  list_node* prev_ = nullptr;
};

// A circular list through a root node: no operation has a special case for the ends. T derives from list_node.
template <class T>
class list {
 public:
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    iterator() noexcept = default;
    T& operator*() const noexcept { return static_cast<T&>(*at_); }
    T* operator->() const noexcept { return static_cast<T*>(at_); }
    iterator& operator++() noexcept { return at_ = at_->next_, *this; }
    iterator& operator--() noexcept { return at_ = at_->prev_, *this; }
    iterator operator++(int) noexcept {
      iterator old = *this;
      ++*this;
      return old;
    }
    iterator operator--(int) noexcept {
      iterator old = *this;
      --*this;
      return old;
    }
    friend bool operator==(const iterator&, const iterator&) noexcept = default;

   private:
    friend class list;
    explicit iterator(list_node* at) noexcept : at_(at) {}
    list_node* at_ = nullptr;
  };

  list() noexcept { reset(); }
  list(list&& other) noexcept : list() { splice_back(other); }
  list& operator=(list&&) = delete;
  ~list() {
    debug_expects(empty(), "a list was destroyed with elements in it", "clear() it, or let its elements go first");
    root_.next_ = root_.prev_ = nullptr;
  }

  bool empty() const noexcept { return root_.next_ == &root_; }
  T& front() noexcept { return checked(root_.next_); }
  T& back() noexcept { return checked(root_.prev_); }

  void push_front(T& element) noexcept { node(element).link_before(*root_.next_); }
  void push_back(T& element) noexcept { node(element).link_before(root_); }
  void insert_before(T& place, T& element) noexcept { node(element).link_before(node(place)); }

  T& pop_front() noexcept {
    T& first = front();
    erase(first);
    return first;
  }
  T& pop_back() noexcept {
    T& last = back();
    erase(last);
    return last;
  }

  // Unlinks `element` from the list that it is in; the list itself need not be at hand.
  static void erase(T& element) noexcept { node(element).unlink(); }

  // Links `element` with itself alone: it counts as linked until it is erased.
  static void link_alone(T& element) noexcept { node(element).link_alone(); }

  // The one behind `element`, which is not the last.
  static T& after(T& element) noexcept { return static_cast<T&>(*node(element).next_); }

  // Unlinks every element: O(n).
  void clear() noexcept {
    while (!empty()) root_.next_->unlink();
  }

  // Appends all elements of `other`, which is then empty: O(1).
  void splice_back(list& other) noexcept {
    if (other.empty() || &other == this) return;
    list_node* first = other.root_.next_;
    list_node* last = other.root_.prev_;
    other.reset();
    first->prev_ = root_.prev_;
    root_.prev_->next_ = first;
    last->next_ = &root_;
    root_.prev_ = last;
  }

  iterator begin() noexcept { return iterator{root_.next_}; }
  iterator end() noexcept { return iterator{&root_}; }

 private:
  static list_node& node(T& element) noexcept { return element; }
  T& checked(list_node* at) noexcept {
    debug_expects(at != &root_, "an element was asked of an empty list", "ask empty() first");
    return static_cast<T&>(*at);
  }
  void reset() noexcept { root_.next_ = root_.prev_ = &root_; }

  list_node root_;
};

}}}  // namespace hocket::detail
