// An awaiter after which a task may end instead of continuing: or_return and propagate.
//
// A resumed coroutine can end only by co_return or an exception. So the awaited operation does not resume the task. It
// resumes a stand-in, which reads the result. The stand-in continues with the task, or it stores the end in the promise
// of the task and continues with the task's parent. Then the task is at its end, but is suspended at its wait. Its
// frame, with its locals and this awaiter, is destroyed by the parent after the parent has taken the result.
//
// The continuation of the stand-in is the task, so a debugger that follows the chain of awaiters skips the stand-in.
#pragma once
#include <hocket/core/thread/seam/stand_in.hpp>
#include <hocket/coro/detail/task_promise.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The promise of a task. Other bodies (an async_generator) give their parent no result at their end.
template <class Promise>
concept ends_early = std::is_base_of_v<task_chain, Promise> && requires { typename Promise::result_type; };

class early_end : public own_awaiter, protected stand_in {
 protected:
  using handle = std::coroutine_handle<>;
  using stand_in::stand_in;

  // Awaits through the stand-in. If the awaiter does not suspend, runs the stand-in at once.
  template <class W>
  handle suspend(W& awaiter, coroutine_header& above, handle self) {
    above_ = &above;
    header.continuation.handle = self;
    header.ctx = above.ctx;
    header.budget = above.budget;
    const auto frame = open(*this);
    using answer = decltype(awaiter.await_suspend(frame));
    try {
      if constexpr (std::is_void_v<answer>) {
        awaiter.await_suspend(frame);
      } else if constexpr (std::is_same_v<answer, bool>) {
        if (!awaiter.await_suspend(frame)) {
          close(frame);
          return next_of(go_on(*this));
        }
      } else {
        return awaiter.await_suspend(frame);
      }
    } catch (...) {
      close(frame);
      throw;
    }
    return std::noop_coroutine();
  }

  // Replaces a null handle by a no-op coroutine.
  static handle next_of(handle next) noexcept { return next ? next : std::noop_coroutine(); }

  // In the stand-in: continues with the task.
  handle resume_task() noexcept {
    above_->budget = header.budget;
    return header.continuation.handle;
  }
  // In the stand-in, before it ends the task.
  template <class Promise>
  Promise& promise() noexcept {
    above_->budget = header.budget;
    return static_cast<Promise&>(*above_);
  }

 private:
  coroutine_header* above_ = nullptr;
};

}}}  // namespace hocket::detail
