// The access log: a record of each answer, for a hook of the program.
//
//   void log_access(const http::access_record& record) noexcept {
//     lines.append(http::access_line(record));                      // or counts, histograms, JSON
//   }
//   auto server = http::serve(rt, "[::]:8080", {.access_log = log_access}, std::move(routes));
//
// The hook is called by the worker of the connection, once for each answer, when its last byte was handed to the
// system, or when the answer has failed. It must not wait and must not throw. Several workers call it at the same time.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/http/status.hpp>
#include <hocket/net/address.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

class request;

// An answer. The texts are the client's. All views are valid during the call of the hook.
struct access_record {
  const request& rq;             // of a head that did not parse it has only its peer
  const socket_address& peer;    // of the connection
  const socket_address& client;  // behind trusted proxies; else the peer
  std::string_view method;       // empty: the head did not parse
  std::string_view target;       // as it was sent
  std::string_view host;
  http::status status;
  std::uint64_t bytes_in;   // of the request's body, read until the answer was complete
  std::uint64_t bytes_out;  // of the answer, its head included
  duration time;            // from the end of the request's head to the end of the answer
  bool is_complete;         // false: the peer did not get all of the answer
};
static_assert(hocket::detail::owns_nothing<access_record>);

// The record in the combined log format of Apache and nginx, without a line feed. Quotes, backslashes and bytes outside
// of visible ASCII in the client's texts are written as \xHH, so that no client can forge a line. `now`: seconds since
// 1970. Throws std::bad_alloc.
std::string access_line(const access_record& record, std::int64_t now);
std::string access_line(const access_record& record);  // now

}}}  // namespace hocket::http
