// fiber_local<T>: a value of which every fiber has its own.
//
//   fiber_local<int> depth;                   // usually static
//   void visit() { ++*depth; ... }            // each fiber counts its own
//
// The value is made (T{}) at the first use in a fiber and destroyed when that fiber ends, on its stack, last made first
// destroyed. Code that runs in no fiber has the thread's own value. Finding a value takes time linear in how many
// fiber-locals this fiber uses. The fiber_local itself must outlive the fibers that used it.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// One value of one fiber; the list of a fiber begins with the one that was made last.
struct fiber_local_node {
  fiber_local_node* next;
  const void* key;
  void (*destroy)(fiber_local_node* self) noexcept;
};

// The list of the running fiber, or of the thread outside of fibers. Throws bad_alloc.
fiber_local_node*& current_fiber_locals();
void destroy_fiber_locals(fiber_local_node*& first) noexcept;

}  // namespace detail

template <class T>
class fiber_local {
 public:
  fiber_local() noexcept = default;
  fiber_local(const fiber_local&) = delete;
  fiber_local& operator=(const fiber_local&) = delete;

  // The running fiber's value. The reference stays valid until the fiber ends.
  T& get() {
    detail::fiber_local_node*& first = detail::current_fiber_locals();
    for (detail::fiber_local_node* at = first; at; at = at->next)
      if (at->key == this) return static_cast<node*>(at)->value;
    node* made = new node{{nullptr, this, &node::drop}, {}, T{}};
    made->next = first;  // only now: T{} may have used other fiber-locals
    first = made;
    return made->value;
  }
  T& operator*() { return get(); }
  T* operator->() { return &get(); }

 private:
  struct node : detail::fiber_local_node, detail::from_memory_source {
    T value;
    static void drop(detail::fiber_local_node* self) noexcept { delete static_cast<node*>(self); }
  };
};

}}  // namespace hocket
