// What other threads post to a pool: a stack of runnables, of which a worker takes everything at once.
//
// post() is one compare-exchange; take() one exchange, and turns the order round. So a burst costs its poster no more
// than a list, and the worker that takes it shares it by being stolen from.
#pragma once
#include <hocket/base/atomic.hpp>
#include <hocket/core/runnable.hpp>

namespace hocket::inline HOCKET_ABI {

class injection {
 public:
  // Any thread. `first` to `last` are linked by `next`, the last posted first.
  void post(runnable& first, runnable& last) noexcept;
  void post(runnable& work) noexcept { post(work, work); }

  // Any worker: everything, first posted first, linked by `next`; null if there is nothing.
  [[nodiscard]] runnable* take() noexcept;

  // ORDER: relaxed, pairs with nothing: a guess; whoever needs more makes a fence.
  bool empty() const noexcept { return top_.load(std::memory_order_relaxed) == nullptr; }

 private:
  atomic<runnable*> top_{nullptr};
};

}  // namespace hocket::inline HOCKET_ABI
