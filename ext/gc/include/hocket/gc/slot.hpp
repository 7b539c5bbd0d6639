// slot: what a language runtime keeps for each coroutine, where its code finds it in two loads, and a collector finds
// all of them.
//
//   struct interpreter : gc::slot { value* top; std::vector<value> stack; ... };
//   void run(program p) {                                   // the body of a fiber, or of a task
//     interpreter me;                                       // from here on this coroutine's
//     ...
//   }
//   value allocate() { auto& me = *gc::slot::current<interpreter>(); ... }      // anywhere below
//
//   gc::stop_world([](auto) { gc::for_each_slot<interpreter>([](interpreter& one) { move_all(one.stack); }); });
//
// Functions and tasks that a coroutine calls, awaits or runs in a block (context_local, shielded) see its slot. Spawned
// coroutines, forks and the children of when_all start without a slot. Raw coroutines (fiber/coroutine.hpp) see the
// slot of their resumer.
//
// In the plain code of a registered thread (world.hpp) a slot is the thread's.
#pragma once
#include <hocket/base/detail/list.hpp>
#include <hocket/core/context.hpp>
#include <hocket/gc/world.hpp>
#include <type_traits>

namespace hocket::inline HOCKET_ABI::gc {

class slot;

namespace detail {

struct root_base;  // root.hpp
using root_list = hocket::detail::list<root_base>;

slot* slot_of_plain_code() noexcept;
void for_each_slot(void (*visit)(void* with, slot& one), void* with) noexcept;

}  // namespace detail

// Derive from it. The owning coroutine or thread creates and destroys its slots, the last one first. The newest slot is
// current. The thread is registered (world.hpp): else it is fatal. Both take a lock of all slots for some instructions.
class slot : public hocket::detail::list_node {
 public:
  slot() noexcept;
  slot(const slot&) = delete;
  slot& operator=(const slot&) = delete;

  // The running code's; null if it has none. T is what it was made as.
  template <class T = slot>
    requires std::is_base_of_v<slot, T>
  static T* current() noexcept {
    const context* const ctx = hocket::detail::this_thread().ctx;
    if (ctx && ctx->slot()) [[likely]]
      return static_cast<T*>(static_cast<slot*>(ctx->slot()));
    return static_cast<T*>(detail::slot_of_plain_code());
  }

  // Those of the running code, while the slot is current.
  detail::root_list& roots() noexcept { return roots_; }

 protected:
  ~slot();

 private:
  detail::root_list roots_;
  context* owner_;  // whose it is; null: the thread's
  slot* outer_;
};

// While the world is stopped: visit(T&) for every slot, of coroutines and threads, which all are Ts.
template <class T = slot, class Visit>
void for_each_slot(Visit&& visit) noexcept {
  using called = std::remove_reference_t<Visit>;
  detail::for_each_slot([](void* with, slot& one) { (*static_cast<called*>(with))(static_cast<T&>(one)); },
                        const_cast<void*>(static_cast<const void*>(std::addressof(visit))));
}

}  // namespace hocket::inline HOCKET_ABI::gc
