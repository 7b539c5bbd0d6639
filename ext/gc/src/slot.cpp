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
  return self ? self->plain : nullptr;
}

root_list& own_roots() noexcept {
  if (slot_core* const current = current_slot()) return current->roots();
  registered_thread* const self = own_thread();
  expects(is_plain_code(), "a gc::root was made in a coroutine that has no slot",
          "make a gc::slot at the beginning of the coroutine: it may be resumed by any thread");
  expects(self != nullptr, "a gc::root was made in a thread that is not registered", "make a gc::thread_scope there");
  return self->roots;
}

void for_each_slot(void (*visit)(void* with, slot_core& one), void* with) noexcept {
  expect_stopped_world("gc::for_each_slot() was called while registered threads run");
  for (slot_core& one : all_slots()) visit(with, one);
}

void for_each_root(void (*visit)(void* with, void*& object), void* with) noexcept {
  expect_stopped_world("gc::for_each_root() was called while registered threads run");
  const auto in = [&](root_list& roots) {
    for (root_base& one : roots)
      if (one.object) visit(with, one.object);
  };
  for (slot_core& one : all_slots()) in(one.roots());
  const auto of_thread = [&](registered_thread& one) { in(one.roots); };
  for_each_thread([](void* given, registered_thread& one) { (*static_cast<decltype(of_thread)*>(given))(one); },
                  const_cast<void*>(static_cast<const void*>(&of_thread)));
}

void slot_core::enter() noexcept {
  registered_thread* const self = own_thread();
  expects(self != nullptr, "a gc::slot was made in a thread that is not registered: nobody would stop it",
          "set on_start and on_stop of the runtime to gc::on_start and gc::on_stop, or make a gc::thread_scope");
  {
    const primitive::locked guard(world_mutex());
    all_slots().push_back(*this);
  }
  if (!is_entered()) outer_of_thread_ = std::exchange(self->plain, this);
}

void slot_core::leave() noexcept {
  expects(current_slot() == this && roots_.empty(),
          "a gc::slot was destroyed by other code than its owner's, or with roots",
          "destroy it in the coroutine that has made it, after its roots, the last one first");
  if (is_entered()) coroutine_slot::leave();
  else own_thread()->plain = outer_of_thread_;
  const primitive::locked guard(world_mutex());
  slot_list::erase(*this);
}

}  // namespace detail

}}}  // namespace hocket::gc
