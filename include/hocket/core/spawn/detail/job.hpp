// A job (core/post.hpp): its entry in a run queue, followed by its callable.
//
//   +0   the head of a hand-made frame (core/thread/seam/frame.hpp): the handle is its address
//   +16  the entry of a queue
//   +40  the target, and the function that finishes the job
//   +56  the callable and the arguments, until the call; one byte says so
//
// In conforming mode the handle belongs to a real coroutine, which runs the job and ends.
//
// The life of a job: it is created; enrolled with its target, or refused and destroyed; posted; resumed once, which
// runs the callable, destroys the job, and then calls the target's leave(). One thread at a time touches it.
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/core/spawn/detail/spawned_call.hpp>
#include <hocket/core/thread/seam/frame.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct job {
  // Calls the callable if `runs`, and destroys the job.
  using finisher = void (*)(job& self, bool runs) noexcept;

  frame_head head{};  // first
  runnable entry{};
  spawn_target* target;
  finisher finish;
};
static_assert(sizeof(job) == 56 || sizeof(void*) != 8);

// Enrols and posts the job, or destroys it and returns the error. Throws like open().
std::error_code post_job(job& job);

// Runs the job in the context of its target, and destroys it.
void run_job(job& posted) noexcept;

// Returns the handle, once for each job. Throws bad_alloc in conforming mode.
std::coroutine_handle<> open(job& job);

// Passes the exception to the target's on_unhandled.
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
