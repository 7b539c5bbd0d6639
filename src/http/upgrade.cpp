#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/upgrade.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

response with_upgrade(std::string_view protocol, std::unique_ptr<upgrade_function> function) {
  if (protocol.empty() || !is_field_value(protocol)) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "hocket: the protocol of an upgrade is empty, or has a control character");
  }
  response answer(status::switching_protocols);
  response_access::append_field(answer, "Upgrade", protocol);
  response_access::body(answer).set_upgrade(std::move(function));
  return answer;
}

}}}}  // namespace hocket::http::detail
