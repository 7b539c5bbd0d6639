#include <hocket/core/executor.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/net/detail/job_connection.hpp>

#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

job_connection::job_connection(server_core::connection&& accepted)
    : readiness_job(*current_executor(), &job_connection::run_job), connection(std::move(accepted)) {
  is_job_ = true;
  open(*this);
}

job_connection::~job_connection() = default;

void* job_connection::operator new(std::size_t bytes) { return allocate_frame(bytes); }
void job_connection::operator delete(void* memory, std::size_t bytes) noexcept { release_frame(memory, bytes); }

void job_connection::start(job_connection& created) {
  if (created.server().connections_scope().enroll(1)) {
    close(created);
    delete &created;
    throw std::bad_alloc();
  }
  created.begin();
  created.enlist();
  const stop_source* const stop = created.server().connections_scope().parent_context().stop();
  const bool is_stopped = stop && stop->requested() != stop_level::none;
  created.notify(is_stopped ? job_reason::stopped : job_reason::requested);
}

bool job_connection::run_job(repeating_job& self) noexcept {
  auto& own = static_cast<job_connection&>(self);
  return own.run(own.take_reasons());
}

readiness_job& job_of(listed_connection& job) noexcept {
  return static_cast<job_connection&>(static_cast<server_core::connection&>(job));
}
readiness_job& job_of(phased_connection& job) noexcept { return static_cast<job_connection&>(job); }

// False: it is destroyed.
bool job_connection::run(std::uint32_t reasons) noexcept {
  this_thread().ctx = &server().connections_scope().parent_context();
  linked_ &= static_cast<std::uint8_t>(~reasons);
  if (std::exchange(is_idle_, false)) descriptor_access::record_of(peer).set_idle_since(0);
  if ((reasons & job_reason::stopped) != 0 && !is_ending_) {
    end_phase();
    is_ending_ = true;  // counted as cancelled, and closed at once
  }
  if (!is_ending_) proceed(reasons);
  if (!is_ending_ || !has_ended()) return true;
  leave();
  return false;
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
bool job_connection::wait_peer_end() noexcept {
  do {
    auto look = peer.closed().unwrap();
    if (look.try_now()) return false;
  } while (!wait(descriptor_access::record_of(peer).peer, job_reason::peer_end));
  return true;
}

bool job_connection::wait(direction& awaited, std::uint32_t reason) noexcept {
  if ((linked_ & reason) != 0) return true;
  switch (awaited.watch(*this)) {
    case watch_outcome::linked: linked_ |= static_cast<std::uint8_t>(reason); return true;
    case watch_outcome::ready: return false;
    case watch_outcome::busy: notify(job_reason::requested); return true;
    case watch_outcome::occupied: end(std::make_error_code(std::errc::device_or_resource_busy)); return true;
    case watch_outcome::closed: end(std::make_error_code(std::errc::bad_file_descriptor)); return true;
    case watch_outcome::failed: end(std::make_error_code(std::errc::not_enough_memory)); return true;
  }
  return true;
}

void job_connection::begin_phase(duration limit, bool is_rated) noexcept {
  if (!set_phase(deadline_after(time_here(), limit), is_rated)) return;
  has_been_phased_ = true;
  list_phase(*this);
}

void job_connection::end(std::error_code error) noexcept {
  if (std::exchange(is_ending_, true)) return;
  end_phase();
  returned(error);
}

void job_connection::unwatch(direction& watched, std::uint32_t reason) noexcept {
  if ((linked_ & reason) != 0 && watched.unwatch(*this)) linked_ &= static_cast<std::uint8_t>(~reason);
}

// readiness_job.hpp: "The end of a connection". False: a run follows.
bool job_connection::has_ended() noexcept {
  leave_list();
  if (has_been_phased_) unlist_phase(*this);
  open_descriptor& record = descriptor_access::record_of(peer);
  unwatch(record.in, job_reason::readable);
  unwatch(record.out, job_reason::writable);
  unwatch(record.peer, job_reason::peer_end);
  return linked_ == 0 && !is_posted();
}

void job_connection::leave() noexcept {
  scope& connections = server().connections_scope();
  if (!is_running()) static_cast<void>(tcp::stream(std::move(peer)));  // it may linger
  delete this;
  connections.leave();
}

}}}  // namespace hocket::detail
