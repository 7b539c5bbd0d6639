// A request of a head in memory, without a connection.
#pragma once
#include <hocket/http/detail/request_head.hpp>
#include <hocket/http/request.hpp>

#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <utility>

namespace hocket_test {

class made_request final : public hocket::http::detail::request_origin {
 public:
  // A request without a head.
  made_request() : request_(*this, nullptr) {}
  // The lines of the head are separated by '\n' here, and end with CR LF in the head.
  explicit made_request(std::string_view lines, std::string_view body = {})
      : bytes_(with_crlf(lines)), body_(body), request_(*this, parse(bytes_, head_)) {
    hocket::http::detail::request_access::set_body(request_, body_);
  }

  hocket::http::request& operator*() noexcept { return request_; }
  hocket::http::request* operator->() noexcept { return &request_; }
  const std::string& bytes() const noexcept { return bytes_; }

  const hocket::socket_address& peer() noexcept override { return address_; }
  bool is_draining() const noexcept override { return draining; }

  bool draining = false;

 private:
  static std::string with_crlf(std::string_view lines) {
    std::string text;
    for (const char c : lines) {
      if (c == '\n') text += '\r';
      text += c;
    }
    return text + "\r\n\r\n";
  }
  static const hocket::http::detail::request_head* parse(std::string_view bytes,
                                                         hocket::http::detail::request_head& head) {
    const auto outcome = head.parse(bytes, {.line = 60000, .head = 1 << 20, .fields = 100});
    REQUIRE_MESSAGE(outcome == hocket::http::detail::request_head::outcome::complete, "refused: ", head.error().section,
                    "\n", bytes);
    return &head;
  }

  const hocket::socket_address address_{"192.0.2.1:4711"};
  const std::string bytes_;
  const std::string body_;
  hocket::http::detail::request_head head_;
  hocket::http::request request_;
};

// A request line and Host.
inline std::string get(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\nHost: example.org";
}

}  // namespace hocket_test
