// fiber_local<T>: a variable with one value per fiber.
//
//   fiber_local<int> depth;                   // usually static
//   void visit() { ++*depth; ... }            // each fiber counts its own
//
// Guarantees. The first use in a fiber creates the value (T{}). The value is destroyed when that fiber ends, on the
// fiber's stack, in reverse order of creation. Code that runs in no fiber has a value of its thread.
// Complexity. An access is linear in the number of fiber-locals that this fiber uses.
// Limits. The fiber_local outlives all fibers that used it.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/fiber/detail/fiber_local_list.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Returns the list of the running fiber, or of the thread outside of fibers. Throws std::bad_alloc.
fiber_local_node*& current_fiber_locals();

}  // namespace detail

// A variable with one value per fiber; see above.
template <class T>
class fiber_local {
 public:
  fiber_local() noexcept = default;
  fiber_local(const fiber_local&) = delete;
  fiber_local& operator=(const fiber_local&) = delete;

  // Returns the running fiber's value. The reference stays valid until the fiber ends.
  T& get() {
    detail::fiber_local_node*& first = detail::current_fiber_locals();
    for (detail::fiber_local_node* current = first; current; current = current->next)
      if (current->key == this) return static_cast<node*>(current)->value;
    node* added = new node{{nullptr, this, &node::drop}, {}, T{}};
    added->next = first;  // only now: T{} may have used other fiber-locals
    first = added;
    return added->value;
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
