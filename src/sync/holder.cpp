#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/sync/detail/holder.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

const void* owner_without_strand(const thread_state& thread) noexcept {
  const context* const whole = thread.ctx ? &thread.ctx->whole() : &context::root();
  const void* const name = whole == &context::root() ? static_cast<const void*>(&thread) : whole;
  return static_cast<const std::byte*>(name) + 1;
}

bool current_owner_is_alone() noexcept {
  const context& thread = current_context();
  return thread.strand() || !thread.whole().is_of_many();
}

// An exchange reads the last value of the word, never an older one. So the address of this coroutine is there only if
// no later holder released the lock, for example a coroutine that received the guard. Exempt: a coroutine whose eager
// body waits by itself, because the body may hold the lock or wait for it.
template <class Strength>
void holder<Strength>::check_not_held([[maybe_unused]] const char* message,
                                      [[maybe_unused]] const char* remedy) noexcept {
  if constexpr (checked) {
    const strand_state* strand = current_context().strand();
    const void* expected = strand;
    // ORDER: relaxed, pairs with nothing: see above.
    const bool held =
        strand && !strand->in_parts() &&
        coroutine_.compare_exchange_strong(expected, strand, std::memory_order_relaxed, std::memory_order_relaxed);
    debug_expects(!held, message, remedy, strand ? strand->name() : nullptr);
  }
}

template <class Strength>
void holder<Strength>::forget([[maybe_unused]] const char* message) noexcept {
  if constexpr (checked) {
    const strand_state* strand = current_context().strand();
    // ORDER: relaxed, pairs with nothing: see above.
    const void* const taker = coroutine_.exchange(nullptr, std::memory_order_relaxed);
    debug_expects(!strand || !taker || taker == strand, message,
                  "hand the work over, not the guard; a semaphore of one may be released by anyone",
                  strand ? strand->name() : nullptr);
  }
}

template class holder<strength::shared>;
template class holder<strength::unsync>;

}}}  // namespace hocket::detail
