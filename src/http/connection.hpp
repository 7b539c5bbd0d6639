// A connection of an HTTP server while it has requests.
//
// # Life of a connection
//
// serve_connection() is the coroutine of a connection. While the connection is idle, the coroutine waits by
// read_idle(), and owns nothing else. When bytes arrive, the coroutine makes a `connection`. This object serves all
// requests that have arrived, and is destroyed when no byte is unread. So an idle connection has no buffer.
//
// # A request, in steps
//
//   1. head      advance() parses the head in the block where its bytes have arrived. If the head is incomplete,
//                read_head() sends the answers that are ready, and then waits for more bytes.
//   2. route     route_table::find(). The route determines the limit of the body, and who reads it.
//   3. body      Whole: a view, if all of it has arrived as one piece, else read into memory of its own. Streamed: read
//                by the handler. A body that is too long by its declared length is refused before it is read.
//   4. handler   A chain of plain functions is called by advance(). Every other chain is awaited by exchange(), and
//                cancelled if the peer is gone.
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
//   whole body               the input, or `whole` in the frame of exchange(), which destroys the request before
//   texts of the handler     the arena of the request
//   body of the answer       the response; a view in it refers to the three above or to static memory
//
// end_request() frees them, in this order: response, request, head, input.
//
// # Hazards
//
// If a handler is cancelled because its peer is gone, it may still use the request. Prevented: when_any() waits for its
// end, and the request outlives it.
//
// If an answer is sent while a body is unread, the peer may still write, and read nothing. Then both sides wait.
// Prevented: an answer waits at most as long as its pace allows, and then the connection ends.
//
// If bytes behind an upgrade's head were left in the input, the new protocol would miss them. Prevented:
// upgraded_stream takes them.
//
// If the interim answer 100 were sent behind the head of the final answer, it would be read as a part of its body.
// Prevented: body_reader::answer_begins().
//
// # Access
//
// The coroutine of the connection; while exchange() awaits a handler, the handler's coroutine by way of the request.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/http/detail/request_head.hpp>
#include <hocket/http/detail/response_head.hpp>
#include <hocket/http/request.hpp>
#include <hocket/http/request_body.hpp>
#include <hocket/http/response.hpp>
#include <hocket/io/borrowed_bytes.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/sync/semaphore.hpp>
#include <memory>
#include <optional>

#include "http/body_reader.hpp"
#include "http/client.hpp"
#include "http/input.hpp"
#include "http/sender.hpp"
#include "http/site.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class connection final : public request_origin {
 public:
  // What follows when no byte is unread.
  enum class fate : std::uint8_t { idle, closed, cancelled };

  connection(site& home, tcp::stream& peer, borrowed_bytes&& first, proxied_peer* proxied);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection();
  // In frame memory.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory, std::size_t bytes) noexcept;

  // Serves all requests that have arrived.
  task<fate> run();

  // --- request_origin
  const socket_address& peer() noexcept override { return client_.peer(); }
  const socket_address& client() noexcept override { return client_.find(*request_).address; }
  std::string_view scheme() noexcept override;
  std::string_view forwarded_host() noexcept override { return client_.find(*request_).host; }
  bool is_draining() const noexcept override;

 private:
  enum class step : std::uint8_t { idle, head, exchange, flush, close };
  // Bytes of ready answers, after which they are sent.
  static constexpr std::size_t max_output = std::size_t{64} * 1024;
  // A longer body is sent from where it is, instead of being copied to the output.
  static constexpr std::size_t max_copied = std::size_t{16} * 1024;

  // Apart, because together both would be larger than what frame memory caches.
  struct recycled_head final : request_head {
    static void* operator new(std::size_t bytes);
    static void operator delete(void* memory, std::size_t bytes) noexcept;
  };

  // --- without waiting
  step advance();
  step refuse_head(std::error_code error);
  void begin_request();
  std::uint64_t max_body() const noexcept;
  bool can_answer_now();
  bool must_read_whole() const noexcept;
  static bool is_short(const response& answer) noexcept;
  bool keeps_alive() const noexcept;
  body_plan begin_answer(const response& answer);
  void put_short_answer(const response& answer);
  void end_request() noexcept;
  void log_answer(const response& answer, std::error_code error) noexcept;
  // Bytes of answers so far.
  std::uint64_t position() noexcept { return out_.sent() + out_.out().size(); }

  // Destroys the request, and its objects, at the end of an exchange.
  struct request_end {
    std::optional<request>& rq;
    ~request_end() { rq.reset(); }
  };

  // --- waiting; false: the connection fails, or its peer is gone, or the coroutine is cancelled
  task<bool> send_output();
  task<bool> read_head();
  task<bool> read_proxy_header();
  task<bool> exchange();
  task<bool> drain();
  task<std::error_code> read_whole(output& whole, semaphore::permits& shares);
  task<bool> respond(std::optional<response>& answer);
  task<> await_handler(std::optional<response>& answer);
  task<> watch_peer();
  task<bool> send_answer(response& answer);
  task<bool> upgrade(response& answer);
  // The error that has ended the body early.
  task<std::error_code> send_text(std::string_view text);
  task<std::error_code> send_file(const body_file& file);
  task<std::error_code> send_function(body_function& function, const body_plan& plan);
  task<std::error_code> write_function(body_function& function, const body_plan& plan);

  site& site_;
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
  time_point begun_{};  // the end of the request's head
  time_point head_deadline_ = time_point::max();
  std::uint64_t answer_begin_ = 0;  // the position of the present answer
  std::uint64_t counted_out_ = 0;   // bytes that the site has counted
  bool closes_ = false;
};

}}}}  // namespace hocket::http::detail
