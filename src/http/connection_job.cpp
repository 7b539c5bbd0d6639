#include "http/connection_job.hpp"

#include <hocket/base/error.hpp>
#include <hocket/coro/spawn.hpp>

#include "http/site.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace job_reason = hocket::detail::job_reason;
using namespace std::chrono_literals;

// --- the coroutine

// Gives the connection back at its end.
class loan {
 public:
  explicit loan(connection_job& from) noexcept : from_(&from) {}
  loan(loan&& other) noexcept : from_(std::exchange(other.from_, nullptr)) {}
  loan& operator=(loan&&) = delete;
  ~loan() {
    if (from_) from_->give_back();
  }
  active_connection& active() const noexcept { return from_->active(); }

 private:
  connection_job* from_;
};

// What is spawned (coro/spawn.hpp: a callable that settles).
struct serving_call {
  task<active_connection::fate> operator()() { return lent.active().run(next); }
  void settle_failed_call() noexcept { lent.active().set_error(std::current_exception()); }
  void settle(task<active_connection::fate>& body) {
    try {
      lent.active().set_end(body.await_resume());
    } catch (const hocket::detail::forced_unwind&) {
      throw;
    } catch (const cancelled&) {
      lent.active().set_end(active_connection::fate::cancelled);
    } catch (...) {
      lent.active().set_error(std::current_exception());
    }
  }

  loan lent;
  active_connection::step next;
};

// --- the job

const site& connection_job::home() noexcept { return static_cast<server_part&>(server()).home(); }

void connection_job::proceed(std::uint32_t reasons) noexcept {
  try {
    if (is_lent()) attend(reasons);
    else if ((reasons & job_reason::returned) == 0 || take_back()) serve(reasons);
  } catch (...) {
    if (!is_lent()) active_.reset();
    end_thrown();
  }
}

void connection_job::serve(std::uint32_t reasons) {
  for (int round = 0; round < max_rounds; ++round) {
    progress reached = active_ ? progress::pending : read_requests(reasons);
    if (reached == progress::pending) reached = answer();
    if (reached == progress::over) return;
    if (reached == progress::pending) break;
  }
  notify(job_reason::requested);
}

// Idle: bytes have arrived since the read.
connection_job::progress connection_job::read_requests(std::uint32_t reasons) {
  auto read = peer.read_idle().unwrap();
  if (!read.try_now()) return wait_for_request(reasons) ? progress::over : progress::idle;
  result<borrowed_bytes> bytes = read.take();
  // A peer that is silent, or resets the connection, is no failure.
  if (!bytes || bytes->empty()) {
    end();
    return progress::over;
  }
  if (stage_ == stage::silent) end_phase();
  stage_ = stage::served;
  auto& part = static_cast<server_part&>(server());
  active_ = std::make_unique<active_connection>(part.home(), *this, std::move(*bytes), proxied());
  return progress::pending;
}

// True: the run ends. False: bytes have arrived.
bool connection_job::wait_for_request(std::uint32_t reasons) noexcept {
  if (stage_ == stage::silent && (reasons & job_reason::late) != 0 && is_late()) {
    end();
    return true;
  }
  if (stage_ == stage::accepted) {
    begin_phase(home().options.limits.first_byte);
    stage_ = stage::silent;
  }
  return wait_idle();
}

connection_job::progress connection_job::answer() {
  for (;;) {
    const step next = active_->advance();
    const bool can_send = next != step::head && next != step::proxy_header && next != step::exchange;
    const send_state sent = can_send ? active_->send_now() : send_state::blocked;
    if (sent == send_state::blocked) {
      lend_to_coroutine(next);
      return progress::over;
    }
    if (sent == send_state::failed || next == step::close) {
      active_.reset();
      end();
      return progress::over;
    }
    if (next == step::pause) return progress::pending;
    if (next == step::idle) {
      active_.reset();
      return progress::idle;
    }
  }
}

// If the spawn throws, the callable gives back, and a run follows.
void connection_job::lend_to_coroutine(step next) {
  auto& part = static_cast<server_part&>(server());
  lend();
  active_->set_coroutine(
      spawn(part.connections_scope(), part.options_of_connections(), serving_call{loan(*this), next}));
  if (!watches_peer()) notify(job_reason::requested);
}

// --- a lent connection

void connection_job::attend(std::uint32_t reasons) noexcept {
  if ((reasons & job_reason::handover) != 0) {
    end_phase();
    watch_ = watch_state::releasing;
  }
  if (watch_ == watch_state::releasing) return release();
  if (watch_ == watch_state::peer_ended || watch_ == watch_state::released) return;
  const std::optional<peer_end> end = watch_peer();
  if (!end) return;
  if (*end == peer_end::closed || is_gone_when_half_closed()) {
    watch_ = watch_state::peer_ended;
    end_phase();
    return active_->cancel();
  }
  watch_ = watch_state::half_closed;
  begin_phase(1s);
}

bool connection_job::is_gone_when_half_closed() noexcept {
  switch (active_->awaits_user()) {
    case active_connection::user_wait::none: return false;
    case active_connection::user_wait::any: return home().options.cancel_when_half_closed;
    case active_connection::user_wait::ends_when_half_closed: break;
  }
  return true;
}

void connection_job::release() noexcept {
  if (!release_stream()) return;
  leave_list();
  watch_ = watch_state::released;
  active_->stream_is_released();
}

// The coroutine has ended. True: the connection is idle.
bool connection_job::take_back() {
  const std::unique_ptr<active_connection> ended = std::move(active_);
  const watch_state watch = watch_;
  watch_ = watch_state::none;
  if (watch == watch_state::half_closed) end_phase();
  if (ended->error()) std::rethrow_exception(ended->error());
  switch (ended->end()) {
    case active_connection::fate::idle:
      if (!was_stopped()) return true;
      end_cancelled();
      break;
    case active_connection::fate::closed: end(); break;
    case active_connection::fate::cancelled:
      // If the peer has ended, then this job has cancelled the coroutine.
      if (watch == watch_state::peer_ended && !was_stopped()) end();
      else end_cancelled();
      break;
  }
  return false;
}

// --- the server of one address

void server_part::begin(connection accepted) {
  const bool is_proxied = site_.options.proxy_protocol && site_.trusted.contains(accepted.peer.peer_address());
  if (is_proxied) connection_job::start(*new proxied_connection_job(std::move(accepted), next_home()));
  else connection_job::start(*new connection_job(std::move(accepted), next_home()));
}

}}}}  // namespace hocket::http::detail
