// root<T>: a local variable that refers to an object of a collector which moves objects, or which looks at no stacks.
//
//   gc::root<node> list(allocate<node>());            // in a coroutine with a slot, or in a registered thread
//   list->next = allocate<node>();                    // *list may have moved; list knows where to
//   if (list->next == nullptr) list = nullptr;
//
//   gc::stop_world([](auto) { gc::for_each_root([](void*& object) { object = moved_to(object); }); });
//
// A root is in a list of the running coroutine's slot (slot.hpp): no lock, four stores. It is destroyed by the
// coroutine, or thread, that made it, in any order with its other roots.
#pragma once
#include <hocket/gc/slot.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace gc {

namespace detail {

// Fatal where the running code has no list.
root_list& own_roots() noexcept;
void for_each_root(void (*visit)(void* with, void*& object), void* with) noexcept;

struct root_base : hocket::detail::list_node {
  explicit root_base(void* referent) noexcept : object(referent) { own_roots().push_back(*this); }
  root_base(const root_base&) = delete;
  root_base& operator=(const root_base&) = delete;
  ~root_base() { root_list::erase(*this); }

  void* object;
};

}  // namespace detail

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

// While the world is stopped: visit(void*& object) for each root that refers to something.
template <class Visit>
void for_each_root(Visit&& visit) noexcept {
  using called = std::remove_reference_t<Visit>;
  detail::for_each_root([](void* with, void*& object) { (*static_cast<called*>(with))(object); },
                        const_cast<void*>(static_cast<const void*>(std::addressof(visit))));
}

}}}  // namespace hocket::gc
