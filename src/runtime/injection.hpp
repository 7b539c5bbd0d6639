// The injection queue: work that other threads post to a pool. The queue is a stack of runnables; a worker takes all of
// them at once.
//
// post() is one compare-exchange. take() is one exchange, and reverses the order. So each post of a burst costs as much
// as an insertion into a list. Other workers steal from the worker that took the runnables.
//
// post_all() posts a *bundle*, an array of pointers, as one entry of the stack. (In a linked list, the address of each
// runnable is in the memory of the runnable before it, so cache misses follow one another; through an array they
// overlap.) If there is no memory for a bundle, the runnables are posted as a list.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/executor.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class injection {
 public:
  // Any thread.
  void post(runnable& work) noexcept { push(work, work); }
  void post_all(const runnables& works) noexcept;  // at least one

  // Any worker: takes all runnables, and calls `use(runnable&)` for each, in the order of the posts. `use` may reuse or
  // destroy the runnable. Returns their number.
  template <class Use>
  std::size_t take(Use use) noexcept {
    std::size_t taken = 0;
    for (runnable* work = take_stack(); work;) {
      runnable* const next = work->next;
      if (bundle* several = bundle_in(*work)) {
        for (std::size_t i = 0; i < several->count; ++i) use(*several->works[i]);
        taken += several->count;
        discard(several);
      } else {
        use(*work);
        ++taken;
      }
      work = next;
    }
    return taken;
  }

  // ORDER: relaxed, pairs with nothing: a hint; a caller that needs more makes a fence.
  bool empty() const noexcept { return top_.load(std::memory_order_relaxed) == nullptr; }

 private:
  // A runnable without a handle is a bundle.
  struct bundle : runnable {
    std::size_t count;
    runnable* works[1];  // `count` of them

    static constexpr std::size_t bytes(std::size_t count) noexcept {
      return sizeof(bundle) + (count - 1) * sizeof(runnable*);
    }
  };
  static bundle* bundle_in(runnable& entry) noexcept { return entry.handle ? nullptr : static_cast<bundle*>(&entry); }
  static bundle* make_bundle(const runnables& works) noexcept;  // null: no memory
  static void discard(bundle* used) noexcept;

  // `newest` to `oldest` are linked by `next`.
  void push(runnable& newest, runnable& oldest) noexcept;
  // All entries in the order of the posts, linked by `next`; null: empty.
  [[nodiscard]] runnable* take_stack() noexcept;

  atomic<runnable*> top_{nullptr};
};

}}}  // namespace hocket::detail
