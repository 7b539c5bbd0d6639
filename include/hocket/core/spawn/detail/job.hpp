// A job (core/post.hpp): what stands in a run queue for it, and its callable behind that.
//
//   +0   the head of a frame made by hand (core/thread/seam/frame.hpp): the handle is its address
//   +16  the entry of a queue
//   +40  the target, and what to do with the callable
//   +56  the callable and the arguments, until they were called: one byte says so
//
// In conforming mode the handle is that of a real coroutine, which runs the job and ends.
//
// The life of a job: made; enrolled with its target, or refused and destroyed; posted; resumed once, which runs the
// callable, destroys the job, and then tells the target. No thread but the one that has it touches it.
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/core/spawn/detail/spawned_call.hpp>
#include <hocket/core/thread/seam/frame.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct job {
  // Calls the callable, or does not, and destroys the job.
  using finisher = void (*)(job& self, bool runs) noexcept;

  frame_head head{};  // first
  runnable entry{};
  spawn_target* target;
  finisher finish;
};
static_assert(sizeof(job) == 56 || sizeof(void*) != 8);

// Enrols and posts it; or destroys it, and says why. Throws as open().
std::error_code post_job(job& job);

// Runs it at its first resumption; it is gone then. In the context of its target.
void run_job(job& posted) noexcept;

// Once for each job. Throws bad_alloc in conforming mode.
std::coroutine_handle<> open(job& job);

// To the target's on_unhandled.
[[HOCKET_COLD]] void report_failed_job(const job& failed) noexcept;

template <class Call>
class called_job final : private job {
 public:
  template <class... Given>
  explicit called_job(spawn_target& owner, Given&&... args)
      : job{.target = &owner, .finish = &called_job::end}, call_(std::forward<Given>(args)...) {}
  job& base() noexcept { return *this; }

 private:
  static void end(job& self, bool runs) noexcept {
    auto& own = static_cast<called_job&>(self);
    if (runs) own.run();
    own.~called_job();
    release_frame(&own, sizeof(called_job));
  }
  void run() noexcept {
    try {
      static_cast<void>(call_());
    } catch (...) {
      report_failed_job(*this);
    }
  }

  Call call_;
};

template <class Call, class... Given>
job* make_job(spawn_target& target, Given&&... args) {
  return &make_spawned<called_job<Call>>(target, std::forward<Given>(args)...)->base();
}

}}}  // namespace hocket::detail
