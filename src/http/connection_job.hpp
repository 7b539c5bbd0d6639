// A connection of an HTTP server, from its accept to its end. It is a job of its server (net/seam/job_connection.hpp).
//
// # States
//
//   state      meaning                                              left by
//   new        no byte has arrived; the phase limits::first_byte    a byte, the end of the phase
//   idle       between two requests; this object alone              a byte
//   active     requests have arrived; the job serves them           the last answer is sent, or a step has to wait
//   lent       a coroutine serves the requests                      the end of the coroutine: idle, or the end
//
// A new or idle connection also ends by its age (limits::idle), by an eviction, a drain or a stop of the server.
//
// # A request
//
// The job reads, parses, calls a plain handler and writes the answer in one run. So such a request has no coroutine. If
// a step has to wait (for the rest of a head or of a body, for a handler that is a coroutine, for room in the socket),
// the job spawns active_connection::run() in the scope of the server, and lends the connection to it.
//
// # The peer of a lent connection
//
// A handler is cancelled if its peer is gone. So a run follows the first loan, in which the job links itself to the end
// of the peer. It stays linked for later requests: they cost no call. A peer that is half closed is looked at once a
// second, by a phase. It counts as gone while the coroutine awaits a function that writes events. With
// cancel_when_half_closed, it does so while the coroutine awaits any code of the user. Otherwise an answer that is on
// its way is sent.
//
// # Upgrades
//
// upgrade() moves the stream to the handler. Before, it asks for the handover: the job unlinks itself, and leaves the
// list by age, because the limits of the server apply no more.
//
// # Limits
//
//   phase                    kept by                                     end
//   before the first byte    the phase of the job, once a second         closed
//   between two requests     the list by age (connection_list.hpp)       closed
//   within a request         the coroutine (peer_waits.hpp)              408, or reset
//
// # Hazards
//
// If a client sends requests faster than they are answered, then a run would not end, and others would wait.
// Prevented: after max_rounds reads, and after each pause of active_connection::advance(), the job posts itself again.
//
// If the coroutine is killed, or is never begun for lack of memory, then the job would wait for its return. Prevented:
// `loan`, a member of the callable, gives back in its destructor.
//
// # Access
//
// The runs of the job, one at a time.
#pragma once
#include <hocket/net/seam/job_connection.hpp>
#include <memory>

#include "http/active_connection.hpp"
#include "http/client.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class connection_job : public hocket::detail::job_connection {
 public:
  using job_connection::job_connection;

  active_connection& active() noexcept { return *active_; }

 private:
  using step = active_connection::step;
  // Accepted; no byte has arrived, and the phase has begun; bytes have arrived.
  enum class stage : std::uint8_t { accepted, silent, served };
  enum class watch_state : std::uint8_t { none, half_closed, peer_ended, releasing, released };
  // Requests are still to be answered; all that have arrived are answered; the connection is lent, ends, or waits.
  enum class progress : std::uint8_t { pending, idle, over };
  // Reads in one run.
  static constexpr int max_rounds = 2;

  // A header of the PROXY protocol, if the connection begins with one.
  virtual proxied_peer* proxied() noexcept { return nullptr; }

  void proceed(std::uint32_t reasons) noexcept override;
  void serve(std::uint32_t reasons);
  bool wait_for_request(std::uint32_t reasons) noexcept;
  progress read_requests(std::uint32_t reasons);
  progress answer();
  void lend_to_coroutine(step next);
  void attend(std::uint32_t reasons) noexcept;
  bool is_gone_when_half_closed() noexcept;
  void release() noexcept;
  bool take_back();
  const site& home() noexcept;

  stage stage_ : 2 = stage::accepted;
  watch_state watch_ : 3 = watch_state::none;
  std::unique_ptr<active_connection> active_;
};

static_assert(sizeof(connection_job) <= 160 || sizeof(void*) != 8);

// Of a trusted proxy that sends a header of the PROXY protocol.
class proxied_connection_job final : public connection_job {
 public:
  using connection_job::connection_job;

 private:
  proxied_peer* proxied() noexcept override { return &proxied_; }

  proxied_peer proxied_;
};

// The server of one address.
class server_part final : public hocket::detail::server_core {
 public:
  server_part(runtime& on, const tcp::serve_options& options, site& home) : server_core(on, options), site_(home) {}
  server_part(loop& on, const tcp::serve_options& options, site& home) : server_core(on, options), site_(home) {}

  site& home() const noexcept { return site_; }

 private:
  void begin(connection accepted) override;

  site& site_;
};

}}}}  // namespace hocket::http::detail
