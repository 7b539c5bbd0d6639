#include <hocket/core/executor.hpp>
#include <hocket/io/detail/readiness_job.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The job may be destroyed by its run as soon as it is posted, or as soon as the bit was set before.
void readiness_job::notify(std::uint32_t reasons) noexcept {
  // ORDER: acq_rel, release pairs with the exchange in take_reasons(): the run sees what this party did; acquire pairs
  // with it, too: the queue has let go of the entry.
  if ((reasons_.fetch_or(reasons | posted, std::memory_order_acq_rel) & posted) != 0) return;
  hocket::detail::post(entry);
}

void readiness_job::post_first_run(std::uint32_t reasons) noexcept {
  // ORDER: release, pairs with the exchange in take_reasons(): the run sees what the maker did.
  reasons_.fetch_or(reasons, std::memory_order_release);
  hocket::detail::post(entry);
}

std::uint32_t readiness_job::take_reasons() noexcept {
  // ORDER: acq_rel, pairs with the fetch_or in notify(): see there.
  return reasons_.exchange(0, std::memory_order_acq_rel) & ~posted;
}

}}}  // namespace hocket::detail
