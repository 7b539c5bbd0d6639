#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/errc.hpp>
#include <hocket/http/upgrade.hpp>

#include <algorithm>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

task<result<std::size_t>> upgraded_stream::read_some(mutable_buffer buffer) {
  const std::string_view rest = unread();
  if (rest.empty()) co_return co_await stream_.read_some(buffer);
  const std::size_t count = std::min(rest.size(), buffer.size());
  std::memcpy(buffer.data(), rest.data(), count);
  taken_ += count;
  if (taken_ == first_.size()) {
    first_ = std::string();
    taken_ = 0;
  }
  co_return count;
}

namespace detail {

static void check_protocol(std::string_view protocol) {
  if (!protocol.empty() && is_field_value(protocol)) return;
  throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                          "hocket: the protocol of an upgrade is empty, or has a control character");
}

response with_upgrade(std::string_view protocol, std::unique_ptr<upgrade_function> function) {
  check_protocol(protocol);
  response answer(status::switching_protocols);
  response_access::append_field(answer, "Upgrade", protocol);
  response_access::body(answer).set_upgrade(std::move(function));
  return answer;
}

// The server adds a line `Connection: close` of its own, if it closes the connection.
void offer_upgrade(response& answer, std::string_view protocol) {
  if (protocol.empty() || answer.header("Upgrade")) return;
  response_access::append_field(answer, "Upgrade", protocol);
  response_access::append_field(answer, "Connection", "Upgrade");
}

}  // namespace detail

response upgrade_required(std::string_view protocol) {
  detail::check_protocol(protocol);
  response answer = default_error_response(errc::upgrade_required);
  detail::offer_upgrade(answer, protocol);
  return answer;
}

}}}  // namespace hocket::http
