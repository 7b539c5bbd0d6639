#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/sync/detail/holder.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

const void* owner_without_strand(const thread_state& here) noexcept {
  const context* const whole = here.ctx ? &here.ctx->whole() : &context::root();
  const void* const name = whole == &context::root() ? static_cast<const void*>(&here) : whole;
  return static_cast<const std::byte*>(name) + 1;
}

bool current_owner_is_alone() noexcept {
  const context& here = current_context();
  return here.strand() || !here.whole().is_of_many();
}

// An exchange reads the last value that there is, never an older one: so whoever gave the thing back last, another
// coroutine that was given the guard, perhaps, has not left this one's address behind. While an eager body waits by
// itself, that may hold the thing, or want it: its coroutine need not be in the way.
template <class Strength>
void holder<Strength>::look([[maybe_unused]] const char* what, [[maybe_unused]] const char* remedy) noexcept {
  if constexpr (checked) {
    const strand_state* me = current_context().strand();
    const void* mine = me;
    // ORDER: relaxed, pairs with nothing: see above.
    const bool held =
        me && !me->in_parts() &&
        coroutine_.compare_exchange_strong(mine, me, std::memory_order_relaxed, std::memory_order_relaxed);
    debug_expects(!held, what, remedy, me ? me->name() : nullptr);
  }
}

template <class Strength>
void holder<Strength>::forget([[maybe_unused]] const char* what) noexcept {
  if constexpr (checked) {
    const strand_state* me = current_context().strand();
    // ORDER: relaxed, pairs with nothing: see above.
    const void* const taker = coroutine_.exchange(nullptr, std::memory_order_relaxed);
    debug_expects(!me || !taker || taker == me, what,
                  "hand the work over, not the guard; a semaphore of one may be released by anyone",
                  me ? me->name() : nullptr);
  }
}

template class holder<strength::shared>;
template class holder<strength::unsync>;

}}}  // namespace hocket::detail
