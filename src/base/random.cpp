#include <hocket/base/random.hpp>

#include "base/platform/entropy.hpp"

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

constinit atomic<seed_source> source_{nullptr};

}  // namespace

namespace detail {

constinit atomic<std::uint32_t> seed_generation_word{1};

std::uint64_t random_seed() noexcept {
  // ORDER: acquire, pairs with the exchange in replace_seed_source(): a source's own state is visible to its first
  // call.
  if (auto source = source_.load(std::memory_order_acquire)) return source();
  std::uint64_t entropy = kernel_entropy();
  return splitmix64(entropy);
}

}  // namespace detail

seed_source replace_seed_source(seed_source source) noexcept {
  // ORDER: acq_rel, pairs with the load in random_seed(): a source's own state is visible to its first call.
  const seed_source before = source_.exchange(source, std::memory_order_acq_rel);
  // Two at a time: it is odd, whatever comes.
  // ORDER: release, pairs with the load in seed_generation(): who sees it sees the new source.
  detail::seed_generation_word.fetch_add(2, std::memory_order_release);
  return before;
}

}}  // namespace hocket
