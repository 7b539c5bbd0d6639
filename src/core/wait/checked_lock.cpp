#include <hocket/core/checked_lock.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>

#include <cstdio>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void lock_record::on_lock() noexcept {
  if (depth_++ != 0) return;  // recursive: it is in the list
  thread_state& thread = this_thread();
  next_ = thread.locks;
  thread.locks = this;
}

void lock_record::on_unlock() noexcept {
  lock_record** link = &this_thread().locks;
  while (*link && *link != this) link = &(*link)->next_;
  expects(*link == this, "a checked lock was unlocked on a thread that does not hold it",
          "lock and unlock it in one function, without a wait between them");
  if (--depth_ == 0) *link = next_;
}

void wait_under_lock(const lock_record& held, const context* ctx, const std::source_location& at) noexcept {
  char text[200];
  std::snprintf(text, sizeof text, "a coroutine waited while its thread holds the lock \"%.100s\"", held.name());
  const strand_state* self = ctx ? ctx->strand() : nullptr;
  fatal(text,
        "unlock it before you await anything, possible at once or not, or use hocket::mutex, which may be held over a "
        "wait",
        self ? self->name() : nullptr, at);
}

}}}  // namespace hocket::detail
