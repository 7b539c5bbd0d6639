#include <hocket/base/metrics.hpp>
#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/per_process.hpp>

#include <new>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// On the heap, so that a forked child can forget the entries of its parent: they may be in a list that another thread
// was changing.
struct metric_entry : list_node {
  const void* object;
  metric_report report;
  std::uint32_t forks;  // at construction
};

namespace {

struct metric_list {
  primitive::thread_mutex mutex;
  list<metric_entry> entries;  // guarded by the mutex
};

constinit per_process<metric_list> metrics_of_process;

}  // namespace

metric_entry* list_metrics(const void* object, metric_report report) noexcept {
  metric_list* const all = metrics_of_process.get();
  auto* const entry = all ? new (std::nothrow) metric_entry{{}, object, report, forks_so_far()} : nullptr;
  if (!entry) return nullptr;
  const primitive::locked guard(all->mutex);
  all->entries.push_back(*entry);
  return entry;
}

void unlist_metrics(metric_entry* entry) noexcept {
  if (entry->forks != forks_so_far()) return;  // of the parent process: never freed
  metric_list& all = *metrics_of_process.find();
  {
    const primitive::locked guard(all.mutex);
    list<metric_entry>::erase(*entry);
  }
  delete entry;
}

}  // namespace detail

void collect_metrics(metric_visitor& to) {
  detail::metric_list* const all = detail::metrics_of_process.find();
  if (!all) return;
  const primitive::locked guard(all->mutex);
  for (const detail::metric_entry& entry : all->entries) entry.report(entry.object, to);
}

}}  // namespace hocket
