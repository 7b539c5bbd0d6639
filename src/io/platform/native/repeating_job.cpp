// The frame of a repeating job is its own: two function pointers at the same place as in a coroutine frame.
#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/io/detail/repeating_job.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

void resume_repeating_job(void* frame) {
  auto& job = *static_cast<repeating_job*>(frame);
  this_thread().ctx = nullptr;
  static_cast<void>(job.run(job));
}
void destroy_repeating_job(void*) {
  fatal("a job was destroyed by what resumes it", "an executor resumes what is posted to it, exactly once");
}

// Read at run time, because a compiler that knows these functions could call them by its own convention for the parts
// of a coroutine.
void (*volatile repeating_job_resume)(void*) = &resume_repeating_job;
void (*volatile repeating_job_destroy)(void*) = &destroy_repeating_job;

}  // namespace

void open(repeating_job& job) {
  job.head = {repeating_job_resume, repeating_job_destroy};
  job.entry.handle = handle_of(job.head);
}

void close(repeating_job&) noexcept {}

}}}  // namespace hocket::detail
