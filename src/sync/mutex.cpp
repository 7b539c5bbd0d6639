#include <hocket/core/scheduled.hpp>
#include <hocket/sync/mutex.hpp>

namespace hocket::inline HOCKET_ABI {

// An exchange reads the last value that there is, never an older one: so whoever unlocked last, another coroutine that
// was given the guard, perhaps, has not left this one's address behind.
template <class Strength>
void basic_mutex<Strength>::expect_not_mine() noexcept {
  if constexpr (knows_holder) {
    const scheduled* me = current_context().strand();
    const void* holder = me;
    // ORDER: relaxed, pairs with nothing: see above.
    const bool mine =
        me && holder_.compare_exchange_strong(holder, me, std::memory_order_relaxed, std::memory_order_relaxed);
    debug_expects(!mine, "a coroutine locked a mutex that it holds",
                  "a mutex is not recursive: unlock it first, or pass the guard down", me ? me->name() : nullptr);
  }
}

template class basic_mutex<strength::shared>;
template class basic_mutex<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI
