#include <hocket/core/wait/detail/claim.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Out of line: the wait was decided before it was committed.
void claim::return_spare() noexcept {
  // ORDER: relaxed, pairs with the fetch_sub in drop(): the registrar keeps a hold, so the count cannot reach zero.
  word_.fetch_sub(spare_ * one_hold, std::memory_order_relaxed);
}

settlement claim::settle(claim_state decided) noexcept {
  for (;;) {
    claim_state current = claim_state::armed;
    settlement result = swing(current, decided);
    // Decide by the state that swing() loaded: a second load could find it armed again, and then "lost" would have no
    // winner.
    if (current != claim_state::reserved) return result;
    cpu_relax();
  }
}

claim::both claim::settle_both(claim& first, claim& second) noexcept {
  const bool in_order = reinterpret_cast<std::uintptr_t>(&first) < reinterpret_cast<std::uintptr_t>(&second);
  if (in_order) return settle_in_order(first, second);
  const both reversed = settle_in_order(second, first);
  return {reversed.second, reversed.first};
}

claim::both claim::settle_in_order(claim& first, claim& second) noexcept {
  if (first.settle(claim_state::reserved) == settlement::lost) return {settlement::lost, settlement::lost};
  claim_state ours = claim_state::reserved;
  settlement at_second = second.settle(claim_state::granted);
  if (at_second == settlement::lost) {
    // No other party leaves `reserved`: swing() retries only because holds change.
    [[maybe_unused]] settlement undone = first.swing(ours, claim_state::armed);
    return {settlement::lost, settlement::lost};
  }
  return {first.swing(ours, claim_state::granted), at_second};
}

// Changes the state from `from` to `to`. If the claim has another state, stores that in `from`.
settlement claim::swing(claim_state& from, claim_state to) noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
  std::uint32_t word = word_.load(std::memory_order_relaxed);
  while ((word & state_mask) == bits(from)) {
    // ORDER: acquire, pairs with the exchange in commit(): a winner that is not early reads the registrations.
    if (word_.compare_exchange_weak(word, (word & ~state_mask) | bits(to), std::memory_order_acquire,
                                    std::memory_order_relaxed))
      return (word & registering) ? settlement::early : settlement::won;
  }
  from = static_cast<claim_state>(word & state_mask);
  return settlement::lost;
}

}}}  // namespace hocket::detail
