// An awaiter after which a task may end without going on: or_return and propagate.
//
// A coroutine that has been resumed can leave only by co_return or an exception. So what is awaited does not resume the
// task: it resumes a stand-in, which looks at the result, and goes on either with the task, or, when it has told the
// task's promise how it ended, with the task's parent. The task is then at its end but suspended where it waited; its
// frame, with its locals and this awaiter, is destroyed by the parent when that has taken the result.
//
// The stand-in's continuation is the task: a debugger that follows the chain of awaiters skips the stand-in.
#pragma once
#include <hocket/core/thread/seam/stand_in.hpp>
#include <hocket/coro/detail/task_promise.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The promise of a task: not that of another body that awaits (an async_generator), whose parent wants something else.
template <class Promise>
concept ends_early = std::is_base_of_v<task_chain, Promise> && requires { typename Promise::result_type; };

class early_end : public own_awaiter, protected stand_in {
 protected:
  using handle = std::coroutine_handle<>;
  using stand_in::stand_in;

  // Awaits through the stand-in. `then`: what the stand-in does, where it turns out that nothing was to be waited for.
  template <class W>
  handle suspend(W& awaiter, coroutine_header& above, handle self) {
    above_ = &above;
    header.continuation.handle = self;
    header.ctx = above.ctx;
    header.budget = above.budget;
    const auto mine = open(*this);
    using answer = decltype(awaiter.await_suspend(mine));
    try {
      if constexpr (std::is_void_v<answer>) {
        awaiter.await_suspend(mine);
      } else if constexpr (std::is_same_v<answer, bool>) {
        if (!awaiter.await_suspend(mine)) return close(mine), next_of(go_on(*this));
      } else {
        return awaiter.await_suspend(mine);
      }
    } catch (...) {
      close(mine);
      throw;
    }
    return std::noop_coroutine();
  }

  // Where a handle is wanted: for nobody, one that does nothing.
  static handle next_of(handle next) noexcept { return next ? next : std::noop_coroutine(); }

  // In the stand-in: the task goes on.
  handle resume_task() noexcept {
    above_->budget = header.budget;
    return header.continuation.handle;
  }
  // In the stand-in, before the task is ended instead.
  template <class Promise>
  Promise& promise() noexcept {
    above_->budget = header.budget;
    return static_cast<Promise&>(*above_);
  }

 private:
  coroutine_header* above_ = nullptr;
};

}}}  // namespace hocket::detail
