// A repeating job: a function that an executor runs each time the job is posted, without a coroutine.
//
// It begins with the head of a hand-made frame (core/thread/seam/frame.hpp), so a run queue resumes it like a
// coroutine. It lies in an object of its user, so a post allocates nothing. (A job of core/post.hpp runs once, and owns
// its memory.)
//
//   +0   the head of a frame: the handle is its address
//   +16  the entry of a queue
//   +40  the function
//
// In conforming mode the handle belongs to a real coroutine, which lives from open() to the last run.
//
// # Protocol
//
// 1. open(), once.
// 2. post(job.entry), by one party. The job is in a queue, and its memory stays.
// 3. The executor runs the function on a thread of `entry.home`. During the run the job may be posted again.
// 4. The function returns true: the job may be posted again. It returns false: the function may have destroyed the job.
// 5. close(), instead of a last run, for a job that is in no queue and does not run.
//
// The current context is the root context when the function begins. The function must not wait.
#pragma once
#include <hocket/core/thread/seam/frame.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct repeating_job {
  using function = bool (*)(repeating_job& self) noexcept;

  explicit repeating_job(function body) noexcept : run(body) {}
  repeating_job(const repeating_job&) = delete;
  repeating_job& operator=(const repeating_job&) = delete;

  frame_head head{};  // first
  runnable entry{};
  const function run;
};
static_assert(sizeof(repeating_job) == 48 || sizeof(void*) != 8);

// Sets the handle of the entry. Throws bad_alloc in conforming mode.
void open(repeating_job& job);
void close(repeating_job& job) noexcept;

}}}  // namespace hocket::detail
