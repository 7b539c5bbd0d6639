#include "http/answer_log.hpp"

#include <hocket/http/access_log.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

void write_access_record(access_handler log, const request& rq, const answer_facts& facts) noexcept {
  const bool has_head = request_access::head(rq) != nullptr;
  log({.rq = rq,
       .peer = rq.peer(),
       .client = rq.client(),
       .method = rq.method_name(),
       .target = rq.target(),
       .host = has_head ? rq.host() : std::string_view(),
       .status = facts.status,
       .bytes_in = facts.bytes_in,
       .bytes_out = facts.bytes_out,
       .time = facts.time,
       .is_complete = facts.is_complete});
}

}}}}  // namespace hocket::http::detail
