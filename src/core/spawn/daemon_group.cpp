#include <hocket/core/spawn/seam/daemon_group.hpp>

#include <memory>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

daemon_group::daemon_group(spawn_target& host, spawn_target* below)
    : host_(host),
      below_(below),
      parents_{host.parent_context().stop(), below ? below->parent_context().stop() : nullptr},
      context_(context::child_of(host.parent_context(), {.stop = &stop_}, {})) {
  for (std::size_t i = 0; i < std::size(parents_); ++i) {
    if (parents_[i]) links_[i].emplace(*parents_[i], stop_);
  }
}

// A stop of a parent while the group was cancelled has changed nothing here. So the parents are read after the change.
void daemon_group::renew() noexcept {
  if (!stop_.withdraw_cancel()) return;
  for (stop_source* parent : parents_) follow(parent);
}

void daemon_group::follow(stop_source* parent) noexcept {
  if (parent) stop_.request(parent->requested());
}

daemon_slot::~daemon_slot() {
  // ORDER: relaxed, pairs with nothing: no other thread uses the host any more.
  delete group_.load(std::memory_order_relaxed);
}

void daemon_slot::cancel() const noexcept {
  if (daemon_group* const group = get()) group->cancel();
}

daemon_group& daemon_slot::get_or_make(spawn_target& host, spawn_target* below) {
  if (daemon_group* const group = get()) return *group;
  auto group_of_host = std::make_unique<daemon_group>(host, below ? &below->daemons() : nullptr);
  daemon_group* first = nullptr;
  // ORDER: release, pairs with the load in get(); acquire on failure, as there: another thread was first.
  if (!group_.compare_exchange_strong(first, group_of_host.get(), std::memory_order_release, std::memory_order_acquire))
    return *first;
  return *group_of_host.release();
}

}}}  // namespace hocket::detail
