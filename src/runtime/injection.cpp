#include "runtime/injection.hpp"

#include <hocket/base/seam/platform/sized_delete.hpp>

#include <algorithm>
#include <memory>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void injection::post_all(const runnables& works) noexcept {
  if (bundle* several = make_bundle(works)) return push(*several, *several);
  for (std::size_t i = 1; i < works.size(); ++i) works[i].next = &works[i - 1];
  push(works[works.size() - 1], works[0]);
}

void injection::push(runnable& newest, runnable& oldest) noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange below verifies it, and the list is not followed here.
  runnable* seen = top_.load(std::memory_order_relaxed);
  do oldest.next = seen;
  // ORDER: seq_cst, forbids that the look for sleepers in pool_core::inject() comes before it. A release, too: pairs
  // with the exchange in take_stack(), the runnables and all that led to their wake-up are visible.
  while (!top_.compare_exchange_weak(seen, &newest, std::memory_order_seq_cst, std::memory_order_relaxed));
}

runnable* injection::take_stack() noexcept {
  if (empty()) return nullptr;
  // ORDER: acquire, pairs with the compare-exchange in push().
  return reversed(top_.exchange(nullptr, std::memory_order_acquire));
}

injection::bundle* injection::make_bundle(const runnables& works) noexcept {
  void* const memory = ::operator new(bundle::bytes(works.size()), std::nothrow);
  if (!memory) return nullptr;
  auto* created = ::new (memory) bundle{};
  created->count = works.size();
  std::copy_n(works.first, works.count, created->works);
  return created;
}

void injection::discard(bundle* used) noexcept {
  const std::size_t bytes = bundle::bytes(used->count);
  std::destroy_at(used);
  sized_delete(used, bytes);
}

}}}  // namespace hocket::detail
