// root<T>: a local variable that refers to an object of a collector that moves objects or does not scan stacks.
//
//   gc::root<node> list(allocate<node>());            // in a coroutine with a slot, or in a registered thread
//   list->next = allocate<node>();                    // *list may have moved; list has the new address
//   if (list->next == nullptr) list = nullptr;
//
//   gc::stop_world([](auto) { gc::for_each_root([](void*& object) { object = moved_to(object); }); });
//
// A root is in a list of the running coroutine's slot (slot.hpp). Cost: no lock, four stores.
// Thread safety. The coroutine or thread that created a root destroys it, in any order with its other roots.
#pragma once
#include <hocket/gc/slot.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace gc {

namespace detail {

// Returns the list of the running code. Fatal if it has no list.
root_list& own_roots() noexcept;
void for_each_root(void (*visit)(void* argument, void*& object), void* argument) noexcept;

struct root_base : hocket::detail::list_node {
  explicit root_base(void* referent) noexcept : object(referent) { own_roots().push_back(*this); }
  root_base(const root_base&) = delete;
  root_base& operator=(const root_base&) = delete;
  ~root_base() { root_list::erase(*this); }

  void* object;
};

}  // namespace detail

// A pointer to an object of a collector, visible to the collector; see above.
template <class T>
class root : private detail::root_base {
 public:
  explicit root(T* referent = nullptr) noexcept : root_base(address(referent)) {}
  root(const root& other) noexcept : root_base(other.object) {}
  root& operator=(const root& other) noexcept { return *this = other.get(); }
  root& operator=(T* referent) noexcept {
    object = address(referent);
    return *this;
  }

  T* get() const noexcept { return static_cast<T*>(object); }
  T& operator*() const noexcept { return *get(); }
  T* operator->() const noexcept { return get(); }
  explicit operator bool() const noexcept { return object != nullptr; }

 private:
  static void* address(const volatile T* referent) noexcept {
    return const_cast<void*>(static_cast<const volatile void*>(referent));
  }
};

// Calls visit(void*& object) for each root that is not null. Fatal unless the caller has stopped the world (world.hpp).
template <class Visit>
void for_each_root(Visit&& visit) noexcept {
  using visitor = std::remove_reference_t<Visit>;
  detail::for_each_root([](void* argument, void*& object) { (*static_cast<visitor*>(argument))(object); },
                        const_cast<void*>(static_cast<const void*>(std::addressof(visit))));
}

}}}  // namespace hocket::gc
