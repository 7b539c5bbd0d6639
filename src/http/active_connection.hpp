// A connection of an HTTP server while it has requests.
//
// # Life of a connection
//
// A connection is a job (connection_job.hpp). While it is idle it owns no buffer. When bytes arrive, the job makes an
// `active_connection`, which serves all requests that have arrived, and is destroyed when no byte is unread.
//
// The job calls advance() and send_now(), which never wait. If a step has to wait, the job lends the connection to a
// coroutine, run(), which does that step, and serves until the connection is idle or ends.
//
// # A request, in steps
//
//   1. head      advance() parses the head in the block where its bytes have arrived. If the head is incomplete,
//                read_head() sends the answers that are ready, and then waits for more bytes.
//   2. route     route_table::find(). The route determines the limit of the body, and who reads it.
//   3. body      Whole: a view, if all of it has arrived as one piece, else read into memory of its own. Streamed: read
//                by the handler. A body that is too long by its declared length is refused before it is read.
//   4. handler   A chain of plain functions is called by advance(). Every other chain is awaited by exchange(). If the
//                peer is gone, the job cancels the coroutine.
//   5. answer    The head and a short body go to the output. A long body, a file or a function is sent by exchange().
//   6. drain     What is left of the body is dropped, up to limits::max_drain.
//
// advance() never waits and makes no coroutine: it answers one pipelined request after the other, until one of the
// steps has to wait. exchange() does the steps 3 to 6 of that request.
//
// # Order of answers
//
// One request is served at a time, and its answer is complete in the output before the next head is parsed. So answers
// leave in the order of the requests. The output is sent before each wait: for a head, for a body, before a handler
// or a function of a body that may suspend, before a file is read, and if it has more than max_output bytes. Answers
// that are ready together leave in one write.
//
// # Turns
//
// A client can send requests faster than they are answered. After max_requests of them the output is sent, and others
// run: the job posts itself, the coroutine yields. A pause of the job counts as so many runs of the executor's turn:
// else a turn of 64 runs would answer 1,024 requests before it looks for other work. So does a pause of the coroutine.
//
// A peer can take or send the bytes of a long body faster than the server moves them. Then no operation waits:
// turn_share.hpp.
//
// # The end of a connection
//
// `closes_` is decided once for each answer, in begin_answer(), so that the head can say `Connection: close`:
//
//   - the client asks for it, or is of HTTP/1.0 without keep-alive
//   - the handler asks for it
//   - the server drains
//   - the head did not parse, the body is malformed, or it is too long to be dropped
//   - the client expects 100, did not get it, and has not sent the body: it may still send it, or not
//   - the end of the answer's body is the end of the connection (a function's body for HTTP/1.0)
//   - the connection was handed out by an upgrade
//
// After the answer, no byte of the input is parsed. The stream is destroyed, and the server's lingerer (net/serve.hpp)
// takes care that the peer can read the answer.
//
// # Who owns the bytes
//
//   head of the request      input (input.hpp): they stay in place until finish_request()
//   whole body               the input, or `whole` in the frame of exchange(), which ends the request before
//   texts of the handler     the arena of the request
//   body of the answer       the response; a view in it refers to the three above or to static memory
//
// end_request() frees them, in this order: response, request, head, input.
//
// # Hazards
//
// If a handler is cancelled because its peer is gone, it may still use the request. Prevented: the coroutine awaits it,
// and the request outlives it.
//
// If an answer is sent while a body is unread, the peer may still write, and read nothing. Then both sides wait.
// Prevented: an answer waits at most as long as its pace allows, and then the connection ends.
//
// If bytes behind an upgrade's head were left in the input, the new protocol would miss them. Prevented:
// upgraded_stream takes them.
//
// If the stream is moved into an upgraded_stream while the job is linked to it, then the job would be notified for a
// stream that it does not have. Prevented: upgrade() asks for the handover, and waits until the job is not linked.
//
// If the interim answer 100 were sent behind the head of the final answer, it would be read as a part of its body.
// Prevented: body_reader::answer_begins().
//
// # Access
//
// The job; from connection_job::lend_to_coroutine() to the return, the coroutine. While exchange() awaits a handler,
// the handler's coroutine by way of the request. Meanwhile the job calls awaits_user(), cancel() and
// stream_is_released().
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/http/detail/request_head.hpp>
#include <hocket/http/detail/response_head.hpp>
#include <hocket/http/request.hpp>
#include <hocket/http/request_body.hpp>
#include <hocket/http/response.hpp>
#include <hocket/io/borrowed_bytes.hpp>
#include <hocket/net/seam/job_connection.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/semaphore.hpp>
#include <exception>
#include <memory>
#include <optional>

#include "http/body_reader.hpp"
#include "http/client.hpp"
#include "http/input.hpp"
#include "http/sender.hpp"
#include "http/site.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class active_connection final : public request_origin {
 public:
  // What advance() has left to do: nothing, to read a head or a header of the PROXY protocol, a request that waits, to
  // send the output and go on, to send the output and let others run, to send the output and close.
  enum class step : std::uint8_t { idle, head, proxy_header, exchange, flush, pause, close };
  // How the coroutine ends: the connection is idle, or closed; the coroutine was cancelled, or killed.
  enum class fate : std::uint8_t { idle, closed, cancelled };

  active_connection(site& home, hocket::detail::job_connection& job, borrowed_bytes&& first, proxied_peer* proxied);
  active_connection(const active_connection&) = delete;
  active_connection& operator=(const active_connection&) = delete;
  ~active_connection();
  // In frame memory.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory, std::size_t bytes) noexcept;

  // --- by the job, while the connection is not lent
  // Serves requests that have arrived, until one has to wait. Throws std::bad_alloc.
  step advance();
  // Sends the output as far as the system takes it now.
  send_state send_now() noexcept { return out_.send_now(); }

  // --- by the coroutine
  // Does the step, and serves all requests that have arrived.
  task<fate> run(step first);
  void set_end(fate end) noexcept { fate_ = end; }
  void set_error(std::exception_ptr error) noexcept { error_ = std::move(error); }

  // --- by the job, for the coroutine
  void set_coroutine(join_handle<> coroutine) noexcept { coroutine_ = std::move(coroutine); }
  // Whether a handler, or the function of a body, is awaited: any, or one whose peer is gone when it is half closed.
  enum class user_wait : std::uint8_t { none, any, ends_when_half_closed };
  user_wait awaits_user() const noexcept {
    // ORDER: relaxed, pairs with the stores in user_code: a late value delays the cancel by a second. If the handler
    // ends between this look and the cancel, its answer may be cut; the peer has asked to be given up.
    return awaits_user_.load(std::memory_order_relaxed);
  }
  // The peer is gone.
  void cancel() noexcept {
    // ORDER: relaxed: cancel() releases it, and the coroutine reads it after it has acquired the stop.
    is_abandoned_.store(true, std::memory_order_relaxed);
    coroutine_.cancel();
  }
  void stream_is_released() noexcept { released_.set(); }

  // --- by the job, after the return
  fate end() const noexcept { return fate_; }
  const std::exception_ptr& error() const noexcept { return error_; }

  // --- request_origin
  const socket_address& peer() noexcept override { return client_.peer(); }
  const socket_address& client() noexcept override { return client_.find(*request_).address; }
  std::string_view scheme() noexcept override;
  std::string_view forwarded_host() noexcept override { return client_.find(*request_).host; }
  bool is_draining() const noexcept override;

 private:
  // Bytes of ready answers, after which they are sent.
  static constexpr std::size_t max_output = std::size_t{64} * 1024;
  // Requests between two pauses.
  static constexpr std::size_t max_requests = 16;
  // A longer body is sent from where it is, instead of being copied to the output.
  static constexpr std::size_t max_copied = std::size_t{16} * 1024;

  // Apart, because together both would be larger than what frame memory caches.
  struct recycled_head final : request_head {
    static void* operator new(std::size_t bytes);
    static void operator delete(void* memory, std::size_t bytes) noexcept;
  };

  // --- without waiting
  step refuse_head(std::error_code error);
  void begin_request();
  std::uint64_t max_body() const noexcept;
  bool can_answer_now();
  bool must_read_whole() const noexcept;
  bool is_abandoned() const noexcept {
    // ORDER: relaxed, pairs with the store in cancel(): see there.
    return is_abandoned_.load(std::memory_order_relaxed);
  }
  static bool is_short(const response& answer) noexcept;
  bool is_asked_for(std::string_view protocol) const noexcept;
  bool keeps_alive() const noexcept;
  body_plan begin_answer(const response& answer);
  void put_short_answer(const response& answer);
  void end_request() noexcept;
  void log_answer(const response& answer, std::error_code error) noexcept;
  // Bytes of answers so far.
  std::uint64_t position() noexcept { return out_.sent() + out_.out().size(); }

  // While the coroutine awaits code of the user.
  class user_code {
   public:
    user_code(primitive::atomic<user_wait>& state, user_wait present) noexcept : state_(state) {
      // ORDER: relaxed, pairs with the load in awaits_user(): see there.
      state_.store(present, std::memory_order_relaxed);
    }
    user_code(const user_code&) = delete;
    user_code& operator=(const user_code&) = delete;
    ~user_code() {
      // ORDER: relaxed, as above.
      state_.store(user_wait::none, std::memory_order_relaxed);
    }

   private:
    primitive::atomic<user_wait>& state_;
  };
  class answer_end;
  // Ends the request at the end of an exchange, also if an exception or a kill ends it.
  struct request_end {
    active_connection& connection;
    ~request_end() { connection.end_request(); }
  };

  // --- waiting; false: the connection fails, or its peer is gone, or the coroutine is cancelled
  task<bool> send_output();
  task<bool> read_head();
  task<bool> read_proxy_header();
  task<bool> exchange();
  task<bool> drain();
  task<std::error_code> read_whole(output& whole, semaphore::permits& shares);
  task<bool> respond(std::optional<response>& answer);
  task<bool> send_answer(response& answer);
  task<bool> refuse_upgrade(std::string_view protocol);
  task<bool> upgrade(response& answer);
  // The error that has ended the body early.
  task<std::error_code> send_text(std::string_view text);
  task<std::error_code> send_file(const body_file& file);
  task<std::error_code> send_function(body_function& function, const body_plan& plan);
  task<std::error_code> write_function(body_function& function, const body_plan& plan);

  site& site_;
  hocket::detail::job_connection& job_;
  tcp::stream& peer_;
  input in_;
  sender out_;
  body_reader body_;
  request_body stream_;
  client_data client_;
  const std::unique_ptr<recycled_head> head_;
  std::optional<request> request_;
  std::unique_ptr<response> pending_;  // made by advance(), to be sent by exchange()
  std::error_code refusal_;            // the server's own answer
  const route* route_ = nullptr;
  time_point begun_{};  // the end of the request's head, if there is an access log
  time_point head_deadline_ = time_point::max();
  std::uint64_t answer_begin_ = 0;  // the position of the present answer
  std::uint64_t counted_out_ = 0;   // bytes that the site has counted
  std::size_t requests_ = 0;        // since the last pause
  bool closes_ = false;
  fate fate_ = fate::cancelled;
  std::exception_ptr error_;  // of the coroutine
  join_handle<> coroutine_;
  primitive::atomic<user_wait> awaits_user_{user_wait::none};
  primitive::atomic<bool> is_abandoned_{false};
  event released_;  // the job is not linked to the stream any more
};

}}}}  // namespace hocket::http::detail
