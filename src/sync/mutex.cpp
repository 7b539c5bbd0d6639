#include <hocket/core/scheduled.hpp>
#include <hocket/sync/mutex.hpp>

namespace hocket::inline HOCKET_ABI {

// The inner mutex and the acquire order the look at the holder after the unlock of whoever unlocked last: another
// coroutine that was given the guard, perhaps.
template <class Strength>
void basic_mutex<Strength>::expect_not_mine() noexcept {
  if constexpr (knows_holder) {
    locked inside(this->inner());
    const scheduled* me = current_context().strand();
    if (!me || this->is_here()) return;
    // ORDER: relaxed, pairs with nothing: see above.
    debug_expects(holder_.load(std::memory_order_relaxed) != me, "a coroutine locked a mutex that it holds",
                  "a mutex is not recursive: unlock it first, or pass the guard down", me->name());
  }
}

template class basic_mutex<strength::shared>;
template class basic_mutex<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI
