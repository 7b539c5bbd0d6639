// slot<T>: the value that a language runtime keeps for each coroutine. Its code finds the value in two loads and a
// comparison, and a collector finds all values.
//
//   struct interpreter { value* top; std::vector<value> stack; ... };
//   void run(program p) {                                   // the body of a fiber, or of a task
//     gc::slot<interpreter> me;                             // from here on this coroutine's
//     me->stack.reserve(100);
//     ...
//   }
//   value allocate() { interpreter* me = gc::current_slot<interpreter>(); ... }      // anywhere below
//
//   gc::stop_world([](auto) { gc::for_each_slot<interpreter>([](interpreter& each) { move_all(each.stack); }); });
//
// Scope. Functions and tasks that a coroutine calls, awaits or runs in a block (context_local, shielded) see its slot.
// Spawned coroutines, forks, the children of when_all and a fiber's eager bodies start without a slot. Raw coroutines
// (fiber/coroutine.hpp) see the slot of their resumer. In the plain code of a registered thread (world.hpp) a slot
// belongs to the thread.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/list.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/wait/seam/coroutine_slot.hpp>
#include <hocket/gc/world.hpp>
#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace gc {

template <class T>
class slot;

namespace detail {

struct root_base;  // root.hpp
using root_list = hocket::detail::list<root_base>;

// The address of type_of_slot<T> identifies T.
template <class T>
inline constexpr char type_of_slot{};

// The part of a slot that the list of all slots holds. A thread may halt for the lock in enter() and leave(), so a
// collector may see the slot at both moments. The value is complete at both.
class slot_core : public hocket::detail::coroutine_slot, public hocket::detail::list_node {
 public:
  static constexpr hocket::detail::slot_kind kind{.name = "gc::slot"};

  explicit slot_core(const void* type) : coroutine_slot(kind), type_(type) {}

  void enter() noexcept;
  void leave() noexcept;

  const void* type() const noexcept { return type_; }
  root_list& roots() noexcept { return roots_; }

 private:
  const void* const type_;
  root_list roots_;                       // the roots of the running code while the slot is current
  slot_core* outer_of_thread_ = nullptr;  // if the thread owns the slot: the previously current one
};

slot_core* slot_of_plain_code() noexcept;
inline slot_core* current_slot() noexcept {
  hocket::detail::coroutine_slot* const own = hocket::detail::current_coroutine_slot(slot_core::kind);
  if (own) [[likely]]
    return static_cast<slot_core*>(own);
  return slot_of_plain_code();
}

void for_each_slot(void (*visit)(void* argument, slot_core& core), void* argument) noexcept;

}  // namespace detail

// A value of type T that belongs to a coroutine or thread, which creates its slots and destroys them in reverse order.
// The newest slot is current. A collector sees the value from the end of its constructor to the beginning of its
// destructor. Creation and destruction take a lock of all slots for some instructions, and are safepoints.
// Errors. Fatal in a thread that is not registered (world.hpp).
template <class T>
class slot : private detail::slot_core {
 public:
  template <class... Args>
    requires std::constructible_from<T, Args...>
  explicit slot(Args&&... args) : slot_core(&detail::type_of_slot<T>), value_(std::forward<Args>(args)...) {
    enter();
  }
  ~slot() { leave(); }

  T& operator*() noexcept { return value_; }
  T* operator->() noexcept { return std::addressof(value_); }

 private:
  template <class U>
  friend U* current_slot() noexcept;
  template <class U, class Visit>
  friend void for_each_slot(Visit&& visit) noexcept;

  static T& value_of(slot_core& core) noexcept { return static_cast<slot&>(core).value_; }

  T value_;
};

// Returns the value of the running code's slot; null if it has none. The slot must be a slot<T>.
template <class T>
T* current_slot() noexcept {
  detail::slot_core* const core = detail::current_slot();
  if (!core) return nullptr;
  hocket::detail::debug_expects(core->type() == &detail::type_of_slot<T>, "the current gc::slot has another type",
                                "ask for the T of the slot<T> that the coroutine has made");
  return std::addressof(slot<T>::value_of(*core));
}

// Calls visit(T&) for the value of every slot<T> of coroutines and threads. Fatal unless the caller has stopped the
// world (world.hpp).
template <class T, class Visit>
void for_each_slot(Visit&& visit) noexcept {
  using visitor = std::remove_reference_t<Visit>;
  detail::for_each_slot(
      [](void* argument, detail::slot_core& core) {
        if (core.type() == &detail::type_of_slot<T>) (*static_cast<visitor*>(argument))(slot<T>::value_of(core));
      },
      const_cast<void*>(static_cast<const void*>(std::addressof(visit))));
}

}}}  // namespace hocket::gc
