// A place of a task manager as the spawn target of its coroutine: the coroutine asks the manager and the target below.
#include <manager/manager_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

executor& managed_entry::home() noexcept { return table.manager->home(); }
context& managed_entry::parent_context() noexcept {
  return is_daemon ? table.manager->daemon_context() : table.manager->parent_context();
}
unhandled_handler managed_entry::on_unhandled() const noexcept { return table.manager->on_unhandled(); }
spawn_target& managed_entry::for_children() noexcept { return table.manager->children(); }
spawn_target& managed_entry::for_scopes() noexcept {
  return is_daemon ? table.manager->present_daemons() : table.manager->children();
}

// Enrolls the coroutine of this place. If the target below refuses, the place is free again.
std::error_code managed_entry::enroll(std::size_t count) noexcept {
  const std::error_code refused = table.manager->target_below(is_daemon).enroll(count);
  if (!refused) return {};
  table.manager->refuse(*this);
  return refused;
}

void managed_entry::leave() noexcept { table.manager->end(*this); }

}}}  // namespace hocket::detail
