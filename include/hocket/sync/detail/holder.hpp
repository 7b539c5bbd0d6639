// The coroutine that holds a lock. At check level `debug` it detects a coroutine that waits for a lock which it holds,
// or releases a lock of another coroutine. At that level, and with HOCKET_LOCK_OWNERS, dumps print it.
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/strength.hpp>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The owner of the locks that the running code takes: its scheduled coroutine; outside of coroutines the thread or the
// entered context. For comparison only. The children of a when_all and all forks below a coroutine share one owner. The
// address of an owner that is no scheduled coroutine is odd.
[[HOCKET_NOINLINE]] const void* owner_without_strand(const thread_state& thread) noexcept;
inline const void* current_owner() noexcept {
  const thread_state& thread = this_thread();
  const void* const strand = thread.ctx ? thread.ctx->strand() : nullptr;
  return strand ? strand : owner_without_strand(thread);
}
// The owner's scheduled coroutine; null: the owner is none.
inline const void* coroutine_of(const void* owner) noexcept {
  return reinterpret_cast<std::uintptr_t>(owner) % 2 == 0 ? owner : nullptr;
}
// Whether no other code shares the owner of the running code.
[[HOCKET_NOINLINE]] bool current_owner_is_alone() noexcept;

template <class Strength>
class holder {
 public:
  // Records the current scheduled coroutine, if any, as the holder.
  void take() noexcept {
    if constexpr (known) set(current_context().strand());
  }
  // Fatal if another scheduled coroutine is the holder. Exempt: code outside of scheduled coroutines, and the children
  // of a when_all. `message` begins with the error of the coroutine: "unlocked a mutex that ...".
  void give_back([[maybe_unused]] const char* message) noexcept {
    if constexpr (checked) forget(message);
    else if constexpr (known) set(nullptr);
  }
  // For dumps, while the threads are stopped: the scheduled coroutine; null: none, or unknown.
  const void* coroutine() const noexcept {
    if constexpr (known) return Strength::last(coroutine_);
    else return nullptr;
  }
  // `message` has the error of the coroutine: "locked a mutex that it holds".
  void expect_not_mine([[maybe_unused]] const char* message, [[maybe_unused]] const char* remedy) noexcept {
    if constexpr (checked) check_not_held(message, remedy);
  }

 private:
  // Not under the model checker: its tests of a mutex need exclusion only, and this word would lengthen them.
  static constexpr bool checked = debug_checks && !under_model;
  static constexpr bool known = lock_owners && !under_model;
  struct no_holder {
    explicit no_holder(const void*) noexcept {}
  };

  void set(const void* coroutine) noexcept {
    // ORDER: relaxed, pairs with nothing: read in check_not_held(), where the word of the lock orders it.
    if constexpr (checked) coroutine_.exchange(coroutine, std::memory_order_relaxed);
    // ORDER: relaxed, pairs with nothing: read by a dump alone, when all coroutines have stopped.
    else if constexpr (known) coroutine_.store(coroutine, std::memory_order_relaxed);
  }
  void check_not_held(const char* message, const char* remedy) noexcept;
  void forget(const char* message) noexcept;

  [[no_unique_address]] std::conditional_t<known, typename Strength::template word<const void*>, no_holder> coroutine_{
      nullptr};
};

extern template class holder<strength::shared>;
extern template class holder<strength::unsync>;

}}}  // namespace hocket::detail
