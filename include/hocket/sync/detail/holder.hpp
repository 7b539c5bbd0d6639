// Which coroutine holds a thing: at check level `debug` to find one that waits for what it holds itself, or gives back
// what another one holds; there and with HOCKET_LOCK_OWNERS, for dumps.
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/strength.hpp>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Who owns what the running code takes: its scheduled coroutine; outside of coroutines the thread, or the context that
// it was given. To be compared only. The children of a when_all, and what is forked below a coroutine, have one name
// for all of them: it tells them from others, but not from each other. Names that are no scheduled coroutine's are odd.
[[HOCKET_NOINLINE]] const void* owner_without_strand(const thread_state& thread) noexcept;
inline const void* current_owner() noexcept {
  const thread_state& thread = this_thread();
  const void* const strand = thread.ctx ? thread.ctx->strand() : nullptr;
  return strand ? strand : owner_without_strand(thread);
}
// The scheduled coroutine that has this name; null: it is none.
inline const void* coroutine_of(const void* owner) noexcept {
  return reinterpret_cast<std::uintptr_t>(owner) % 2 == 0 ? owner : nullptr;
}
// Whether that is the name of the running code alone.
[[HOCKET_NOINLINE]] bool current_owner_is_alone() noexcept;

template <class Strength>
class holder {
 public:
  // The thing was taken by the current coroutine, if it is a scheduled one.
  void take() noexcept {
    if constexpr (known) set(current_context().strand());
  }
  // Fatal, if that was another scheduled coroutine than the current one. Code that is none, or of several (the children
  // of a when_all), may give back anybody's. `what` says what the coroutine did: "unlocked a mutex that ...".
  void give_back([[maybe_unused]] const char* message) noexcept {
    if constexpr (checked) forget(message);
    else if constexpr (known) set(nullptr);
  }
  // For those who look while the threads stand still: the scheduled coroutine; null if there is none, or none is known.
  const void* coroutine() const noexcept {
    if constexpr (known) return Strength::last(coroutine_);
    else return nullptr;
  }
  // `what` says what the coroutine did: "locked a mutex that it holds".
  void expect_not_mine([[maybe_unused]] const char* message, [[maybe_unused]] const char* remedy) noexcept {
    if constexpr (checked) check_not_held(message, remedy);
  }

 private:
  // The model checker's test of a mutex is that it excludes; one more word would only make that test longer.
  static constexpr bool checked = debug_checks && !under_model;
  static constexpr bool known = lock_owners && !under_model;
  struct no_holder {
    explicit no_holder(const void*) noexcept {}
  };

  void set(const void* coroutine) noexcept {
    // ORDER: relaxed, pairs with nothing: read for the check in look(), where the word of the thing orders it.
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
