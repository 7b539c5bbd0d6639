// What other threads post to a pool: a stack of runnables, of which a worker takes everything at once.
//
// post() is one compare-exchange; take() one exchange, and turns the order round. So a burst costs its poster no more
// than a list, and the worker that takes it shares it by being stolen from.
//
// Several that are posted at once stand in a *bundle*, an array of pointers, which is one entry of the stack. (In a
// list of their own the worker would have to wait for the memory of each before it knew where the next is; through an
// array it asks for that of many at the same time.) Where there is no memory for a bundle they are posted as a list.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/executor.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class injection {
 public:
  // Any thread.
  void post(runnable& work) noexcept { push(work, work); }
  void post_all(const runnables& works) noexcept;  // not none

  // Any worker: everything, first posted first, by calls of `use(runnable&)`, which may do with each what it likes.
  // Gives how many.
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

  // ORDER: relaxed, pairs with nothing: a guess; whoever needs more makes a fence.
  bool empty() const noexcept { return top_.load(std::memory_order_relaxed) == nullptr; }

 private:
  // Known by its having no handle.
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
  // First posted first, linked by `next`; null if there is nothing.
  [[nodiscard]] runnable* take_stack() noexcept;

  atomic<runnable*> top_{nullptr};
};

}}}  // namespace hocket::detail
