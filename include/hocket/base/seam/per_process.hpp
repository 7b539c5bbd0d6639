// per_process<T>: one T for each process. A forked child makes its own, because a thread of the parent may have locked
// the parent's.
//
// The T is made at the first use in a process, and never destroyed: threads may use it after main(). A child never
// uses or frees its copy of the parent's T.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/forks.hpp>
#include <cstdint>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T>
class per_process {
 public:
  constexpr per_process() noexcept = default;

  // The T of this process. The first call makes it of the arguments. Null: no memory. Any thread.
  template <class... Args>
  T* get(const Args&... arguments) noexcept {
    // ORDER: acquire, pairs with the compare-exchange below.
    entry* found = current_.load(std::memory_order_acquire);
    while (!found || found->forks != forks_so_far()) {
      entry* const fresh = new (std::nothrow) entry{.value = T(arguments...)};
      if (!fresh) return nullptr;
      // ORDER: acq_rel, pairs with itself and the load above: the thread that finds the T finds it complete.
      if (current_.compare_exchange_strong(found, fresh, std::memory_order_acq_rel, std::memory_order_acquire))
        return &fresh->value;
      delete fresh;
    }
    return &found->value;
  }

  // Null: get() has not made it in this process.
  T* find() noexcept {
    // ORDER: acquire, pairs with the compare-exchange in get().
    entry* const found = current_.load(std::memory_order_acquire);
    return found && found->forks == forks_so_far() ? &found->value : nullptr;
  }

 private:
  struct entry {
    std::uint32_t forks = forks_so_far();  // at construction
    T value;
  };

  primitive::atomic<entry*> current_{nullptr};
};

}}}  // namespace hocket::detail
