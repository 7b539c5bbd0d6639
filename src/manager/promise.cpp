#include <hocket/manager/detail/promise.hpp>
#include <manager/manager_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

task_id add_promise(manager_core& core, const promise_kind& kind, void* promise, const expect_options& options) {
  std::error_code error;
  managed_entry* entry = core.open({"", options.within, options.group, options.data, options.location, false}, error);
  if (!entry) {
    kind.fail(promise, error);
    return task_id::none;
  }
  task_id id = task_id::none;
  bool late = false;
  {
    locked guard(entry->table.mutex);
    if (core.stops().requested() == stop_level::none) {
      id = table_of(*entry).bind(*entry, kind, promise);
      late = entry->is_late();
    }
  }
  if (id == task_id::none) {
    core.close_place(*entry);
    kind.fail(promise, make_error_code(errc::cancelled));
  } else if (late) {
    static_cast<void>(core.fail(id, make_error_code(errc::deadline_exceeded), &manager_counts::expired));
  }
  return id;
}

void* take_promise(manager_core& core, task_id id, const promise_kind& kind, std::error_code& error) noexcept {
  const promise_kind* expected = &kind;
  return core.take(id, expected, error, &manager_counts::completed);
}

void* drop_promise(manager_core& core, task_id id) noexcept {
  const promise_kind* any_kind = nullptr;
  std::error_code error;
  return core.take(id, any_kind, error, &manager_counts::abandoned);
}

}}}  // namespace hocket::detail
