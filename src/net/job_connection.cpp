#include <hocket/core/context.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/net/seam/job_connection.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

job_connection::job_connection(server_core::connection&& accepted, executor& home)
    : readiness_job(home, &job_connection::run_job), connection(std::move(accepted)) {
  is_job_ = true;
  open(*this);
}

job_connection::~job_connection() = default;

void job_connection::start(job_connection& created) {
  if (created.server().connections_scope().enroll(1)) {
    close(created);
    delete &created;
    throw std::bad_alloc();
  }
  created.hold_first_run();
  created.begin();
  created.enlist();
  const stop_source* const stop = created.server().connections_scope().parent_context().stop();
  const bool is_stopped = stop && stop->requested() != stop_level::none;
  created.post_first_run(is_stopped ? job_reason::stopped : job_reason::requested);
}

bool job_connection::run_job(repeating_job& self) noexcept {
  auto& own = static_cast<job_connection&>(self);
  return own.run(own.take_reasons());
}

readiness_job& job_of(listed_connection& job) noexcept {
  return static_cast<job_connection&>(static_cast<server_core::connection&>(job));
}
readiness_job& job_of(phased_connection& job) noexcept { return static_cast<job_connection&>(job); }

namespace {

// The context of a run. Code of the user may retain it beyond the end of the server. So its parent is the root context,
// and it inherits from the scope of the connections as a child does. (The scope's own context is below the coroutine
// that has made the server, if there is one. A run is no part of that coroutine.)
class run_context final : public context {
 public:
  run_context(context& connections, const spawn_options& options) noexcept
      : context(context::root(), {options.name, connections.stop(), connections.deadline()}, connections,
                options.location, nullptr, &run_context::free) {}

  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { release_frame(memory, bytes); }

 private:
  static void free(context& self) noexcept { delete static_cast<run_context*>(&self); }
};

// Without memory for a context of its own, a run has the root context.
class running_job {
 public:
  running_job(scope& connections, const spawn_options& options) noexcept
      : context_(make_context(connections.parent_context(), options)) {
    this_thread().ctx = context_;
    current_slot(thread_slot::target) = &static_cast<spawn_target&>(connections);
  }
  running_job(const running_job&) = delete;
  running_job& operator=(const running_job&) = delete;
  ~running_job() {
    current_slot(thread_slot::target) = nullptr;
    this_thread().ctx = nullptr;
    if (context_) context_->release();
  }

 private:
  static context* make_context(context& inherited, const spawn_options& options) noexcept try {
    return new run_context(inherited, options);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  context* const context_;
};

}  // namespace

// False: it is destroyed.
bool job_connection::run(std::uint32_t reasons) noexcept {
  if (!proceed_in_context(reasons)) return true;
  leave();
  return false;
}

// True: it has ended. The context of the run is released before the connection leaves, because the server may end then.
bool job_connection::proceed_in_context(std::uint32_t reasons) noexcept {
  const running_job current(server().connections_scope(), server().options_of_connections());
  set_linked(linked_ & ~reasons);
  if (is_idle_) descriptor_access::record_of(peer).set_idle_since(0);
  is_idle_ = false;
  const bool is_back = (reasons & job_reason::returned) != 0;
  if (is_back) is_lent_ = false;
  if ((reasons & job_reason::stopped) != 0) was_stopped_ = true;
  if (was_stopped_ && !is_lent_ && !is_back && !is_ending_) end_cancelled();
  if (!is_ending_) proceed(reasons);
  return is_ending_ && has_ended();
}

bool job_connection::wait_idle() noexcept {
  is_idle_ = true;
  descriptor_access::record_of(peer).set_idle_since(idle_time(time_here()));
  return wait_readable();
}
bool job_connection::wait_readable() noexcept {
  return wait(descriptor_access::record_of(peer).in, job_reason::readable);
}
bool job_connection::wait_writable() noexcept {
  return wait(descriptor_access::record_of(peer).out, job_reason::writable);
}
// The first look makes the direction idle.
std::optional<peer_end> job_connection::watch_peer() noexcept {
  for (;;) {
    auto look = peer.closed().unwrap();
    if (look.try_now()) return look.take().value_or(peer_end::closed);
    if ((linked_ & job_reason::peer_end) != 0) return std::nullopt;
    const watch_outcome outcome = descriptor_access::record_of(peer).peer.watch(*this);
    if (outcome == watch_outcome::ready) continue;
    if (outcome == watch_outcome::linked) set_linked(linked_ | job_reason::peer_end);
    if (outcome == watch_outcome::busy) notify(job_reason::requested);
    return std::nullopt;
  }
}

bool job_connection::wait(direction& awaited, std::uint32_t reason) noexcept {
  if ((linked_ & reason) != 0) return true;
  switch (awaited.watch(*this)) {
    case watch_outcome::linked: set_linked(linked_ | reason); return true;
    case watch_outcome::ready: return false;
    case watch_outcome::busy: notify(job_reason::requested); return true;
    case watch_outcome::occupied: end(std::make_error_code(std::errc::device_or_resource_busy)); return true;
    case watch_outcome::closed: end(std::make_error_code(std::errc::bad_file_descriptor)); return true;
    case watch_outcome::failed: end(std::make_error_code(std::errc::not_enough_memory)); return true;
  }
  return true;
}

void job_connection::begin_phase(duration limit, bool is_rated) noexcept {
  if (limit > max_limit && !is_rated) return end_phase();
  limit = std::min(limit, max_limit);
  if (!set_phase(deadline_after(time_here(), limit), is_rated)) return;
  has_been_phased_ = true;
  list_phase(*this);
}

bool job_connection::is_late() const noexcept { return phased_connection::is_late(time_here()); }

void job_connection::end(std::error_code error) noexcept {
  if (is_ending_) return;
  begin_end();
  returned(error);
}
void job_connection::end_cancelled() noexcept { begin_end(); }
void job_connection::end_thrown() noexcept {
  begin_end();
  threw();
}
void job_connection::begin_end() noexcept {
  end_phase();
  is_ending_ = true;
}

void job_connection::unwatch(direction& watched, std::uint32_t reason) noexcept {
  if ((linked_ & reason) != 0 && watched.unwatch(*this)) set_linked(linked_ & ~reason);
}

// A direction that does not release the job notifies it: a run follows.
bool job_connection::release_stream() noexcept {
  open_descriptor& record = descriptor_access::record_of(peer);
  unwatch(record.in, job_reason::readable);
  unwatch(record.out, job_reason::writable);
  unwatch(record.peer, job_reason::peer_end);
  return linked_ == 0;
}

// readiness_job.hpp: "The end of a connection". False: a run follows.
bool job_connection::has_ended() noexcept {
  leave_list();
  if (has_been_phased_) unlist_phase(*this);
  return release_stream() && !is_posted();
}

void job_connection::leave() noexcept {
  scope& connections = server().connections_scope();
  if (!is_running()) static_cast<void>(tcp::stream(std::move(peer)));  // it may linger
  delete this;
  connections.leave();
}

}}}  // namespace hocket::detail
