#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/never_destroyed.hpp>
#include <hocket/gc/root.hpp>
#include <hocket/gc/slot.hpp>

#include "registered_thread.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace gc { namespace detail {

namespace {

using hocket::detail::expects;
using slot_list = hocket::detail::list<slot_core>;

// Guarded by world_mutex().
slot_list& all_slots() noexcept {
  static hocket::detail::never_destroyed<slot_list> all;
  return *all;
}

bool is_plain_code() noexcept { return &current_context() == &context::root(); }

}  // namespace

slot_core* slot_of_plain_code() noexcept {
  const registered_thread* const self = is_plain_code() ? own_thread() : nullptr;
  return self ? self->plain_slot : nullptr;
}

root_list& own_roots() noexcept {
  if (slot_core* const current = current_slot()) return current->roots();
  registered_thread* const self = own_thread();
  expects(is_plain_code(), "a gc::root was made in a coroutine that has no slot",
          "make a gc::slot at the beginning of the coroutine: it may be resumed by any thread");
  expects(self != nullptr, "a gc::root was made in a thread that is not registered", "make a gc::thread_scope there");
  return self->roots;
}

void for_each_slot(void (*visit)(void* argument, slot_core& slot), void* argument) noexcept {
  expect_stopped_world("gc::for_each_slot() was called while registered threads run");
  for (slot_core& slot : all_slots()) visit(argument, slot);
}

void for_each_root(void (*visit)(void* argument, void*& object), void* argument) noexcept {
  expect_stopped_world("gc::for_each_root() was called while registered threads run");
  const auto visit_list = [&](root_list& roots) {
    for (root_base& root : roots)
      if (root.object) visit(argument, root.object);
  };
  for (slot_core& slot : all_slots()) visit_list(slot.roots());
  const auto visit_thread = [&](registered_thread& thread) { visit_list(thread.roots); };
  for_each_thread(
      [](void* closure, registered_thread& thread) { (*static_cast<decltype(visit_thread)*>(closure))(thread); },
      const_cast<void*>(static_cast<const void*>(&visit_thread)));
}

void slot_core::enter() noexcept {
  registered_thread* const self = own_thread();
  expects(self != nullptr, "a gc::slot was made in a thread that is not registered: stop_world() would not stop it",
          "set on_start and on_stop of the runtime to gc::on_start and gc::on_stop, or make a gc::thread_scope");
  {
    const primitive::locked guard(world_mutex());
    all_slots().push_back(*this);
  }
  if (!is_entered()) outer_of_thread_ = std::exchange(self->plain_slot, this);
}

void slot_core::leave() noexcept {
  expects(current_slot() == this && roots_.empty(),
          "a gc::slot was destroyed by other code than its owner's, or with roots",
          "destroy it in the coroutine that has made it, after its roots, in reverse order");
  if (is_entered()) coroutine_slot::leave();
  else own_thread()->plain_slot = outer_of_thread_;
  const primitive::locked guard(world_mutex());
  slot_list::erase(*this);
}

}  // namespace detail

}}}  // namespace hocket::gc
