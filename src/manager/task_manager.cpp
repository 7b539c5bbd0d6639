#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/wait_here.hpp>
#include <hocket/manager/task_manager.hpp>
#include <manager/manager_core.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

task_manager::task_manager(std::source_location location, spawn_target& target, const manager_options& options)
    : core_(*new detail::manager_core(target, options, location)) {
  detail::release(*core_);  // the reference of its construction
  if (stop_source* parent = target.parent_context().stop()) link_.emplace(*parent, core_->stops());
}

task_manager::~task_manager() {
  close();
  kill_all();
  link_.reset();
  detail::manager_core& core = *core_;
  if (core.is_empty()) return;
  if (!current_executor() && !core.target().runs_by_itself()) return;  // this thread runs the turns of its loop later
  expects(!core.runs_here(), "a task_manager was destroyed by one of its own coroutines",
          "it would wait for itself: destroy it elsewhere", core.parent_context().name(),
          core.parent_context().spawned());
  const bool joined = detail::wait_here(join({}).ignoring(stop_level::kill));
  expects(joined, "a task_manager was left by a task while its coroutines run",
          "a task's destructors cannot wait: co_await its join() first", core.parent_context().name(),
          core.parent_context().spawned());
}

std::error_code task_manager::cancel(task_id id) noexcept { return core_->stop(id, stop_level::cancel); }
std::error_code task_manager::kill(task_id id) noexcept { return core_->stop(id, stop_level::kill); }
std::error_code task_manager::set_deadline(task_id id, time_point deadline) {
  return core_->set_deadline(id, deadline);
}
std::error_code task_manager::fail(task_id id, std::error_code error) noexcept {
  expects(static_cast<bool>(error), "a reply was failed with an error code that means success",
          "complete() it, or give an error code that is not 0", core_->parent_context().name());
  return core_->fail(id, error, &manager_counts::completed);
}

std::optional<task_info> task_manager::find(task_id id) const noexcept {
  detail::shard& table = core_->shard_of(id);
  locked guard(table.mutex);
  const detail::managed_entry* entry = table.find(id);
  std::optional<task_info> found;
  if (entry) entry->describe(found.emplace());  // in place: a copy would wait for the cache
  return found;
}

operation<detail::managed_end> task_manager::wait(task_id id, call_site site) noexcept {
  return operation<detail::managed_end>(std::in_place, site, *core_, id);
}

task_id task_manager::current() const noexcept { return core_->current(); }

std::size_t task_manager::cancel_group(task_group group) noexcept {
  return core_->stop_group(group, stop_level::cancel);
}
std::size_t task_manager::kill_group(task_group group) noexcept { return core_->stop_group(group, stop_level::kill); }
std::size_t task_manager::group_size(task_group group) const noexcept { return core_->group_size(group); }

void task_manager::cancel_all() noexcept { core_->stop_all(stop_level::cancel); }
void task_manager::kill_all() noexcept { core_->stop_all(stop_level::kill); }

std::size_t task_manager::list_from(std::uint64_t& place, task_info* buffer, std::size_t capacity) const noexcept {
  return core_->list_from(place, buffer, capacity);
}

std::size_t task_manager::size() const noexcept { return core_->size(); }
manager_counts task_manager::counts() const noexcept { return core_->counts(); }

time_point task_manager::tick() noexcept {
  expects(!core_->uses_executor_time(), "tick() was called on a task_manager that goes by its executor's time",
          "do not call it; construct the manager with {.clock = &clock} if its deadlines are to pass in tick()",
          core_->parent_context().name());
  return core_->expire();
}
time_point task_manager::now() const noexcept { return core_->time().now(); }

void task_manager::close() noexcept { core_->close(); }

operation<detail::managed_join> task_manager::join(call_site site) noexcept {
  return operation<detail::managed_join>(std::in_place, site, *core_);
}

}}  // namespace hocket
