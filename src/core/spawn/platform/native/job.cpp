// The frame of a job is its own: two function pointers at the same place as in a coroutine frame.
#include <hocket/base/fatal.hpp>
#include <hocket/core/spawn/detail/job.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

void resume_job(void* frame) { run_job(*static_cast<job*>(frame)); }
void destroy_job(void*) {
  fatal("a job was destroyed by what resumes it", "an executor resumes what is posted to it, exactly once");
}

// Read at run time, because a compiler that knows these functions could call them by its own convention for the parts
// of a coroutine.
void (*volatile resume_entry)(void*) = &resume_job;
void (*volatile destroy_entry)(void*) = &destroy_job;

}  // namespace

std::coroutine_handle<> open(job& job) {
  job.head = {resume_entry, destroy_entry};
  return handle_of(job.head);
}

}}}  // namespace hocket::detail
