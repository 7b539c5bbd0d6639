// Conforming mode: the queued handle of a job is a real coroutine, which runs the job and ends.
#include <hocket/core/spawn/detail/job.hpp>

#include <exception>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

struct job_proxy {
  struct promise_type {
    job_proxy get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }  // it frees itself
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<> handle;
};

job_proxy resumed_once(job& posted) {
  run_job(posted);
  co_return;
}

}  // namespace

std::coroutine_handle<> open(job& job) { return resumed_once(job).handle; }

}}}  // namespace hocket::detail
