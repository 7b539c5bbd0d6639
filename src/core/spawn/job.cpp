#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/detail/job.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

std::error_code post_job(job& job) {
  spawn_target& target = *job.target;
  if (const std::error_code refused = target.enroll(1)) {
    job.finish(job, false);
    return refused;
  }
  try {
    job.entry.handle = open(job);
  } catch (...) {
    job.finish(job, false);
    target.leave();
    throw;
  }
  job.entry.home = &target.home();
  hocket::detail::post(job.entry);
  return {};
}

void run_job(job& posted) noexcept {
  spawn_target& target = *posted.target;
  context& ctx = target.parent_context();
  this_thread().ctx = &ctx;
  const stop_source* const stop = ctx.stop();
  posted.finish(posted, !stop || stop->requested() < stop_level::kill);
  target.leave();
}

void report_failed_job(const job& failed) noexcept {
  failed.target->on_unhandled()(std::current_exception(), failed.target->parent_context());
}

}}}  // namespace hocket::detail
