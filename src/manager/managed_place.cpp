#include <hocket/manager/detail/managed_place.hpp>
#include <manager/manager_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

managed_place::managed_place(manager_core& core, const task_options& options)
    : entry_(core.open({options.name, options.within, options.group, options.data, options.location, options.daemon},
                       refused_)),
      target_(entry_ ? *entry_ : core.refusing(refused_)),
      options_{.name = options.name,
               .stack_size = options.stack_size,
               .stack = options.stack,
               .hibernate_after = options.hibernate_after,
               .own_floating_point = options.own_floating_point,
               .location = options.location} {}

managed_place::~managed_place() {
  if (entry_) entry_->table.manager->close_place(*entry_);
}

// The place is bound before the coroutine is posted. False: the target below refuses the coroutine.
bool managed_place::admit(scheduled& coroutine) noexcept {
  bind(coroutine);
  if (coroutine.enroll()) return true;
  id_ = task_id::none;
  return false;
}

// After it the place belongs to the coroutine.
void managed_place::bind(scheduled& coroutine) noexcept {
  if (!entry_) return;
  managed_entry& entry = *std::exchange(entry_, nullptr);
  bool late = false;
  {
    locked guard(entry.table.mutex);
    table_of(entry).bind(entry, coroutine);
    id_ = entry.id();
    late = entry.is_late();
  }
  if (late) coroutine.request_time_out();
}

}}}  // namespace hocket::detail
