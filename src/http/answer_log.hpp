// What a connection tells the access log (http/access_log.hpp) of an answer.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/http/request.hpp>
#include <hocket/http/serve_options.hpp>
#include <hocket/http/status.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

struct answer_facts {
  http::status status;
  std::uint64_t bytes_in;   // of the request's body
  std::uint64_t bytes_out;  // of the answer, its head included
  duration time;            // from the end of the request's head to the end of the answer
  bool is_complete;         // false: the peer did not get all of it
};

void write_access_record(access_handler log, const request& rq, const answer_facts& facts) noexcept;

}}}}  // namespace hocket::http::detail
