// The responses of a frozen router, without a connection.
#pragma once
#include "unit/http/made_request.hpp"

#include <hocket/core/sync_wait.hpp>
#include <hocket/http/router.hpp>

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <string_view>

namespace hocket_test {

inline std::string text_of(const hocket::http::response& answer) {
  return std::string(hocket::http::detail::response_access::body(answer).text());
}

class served {
 public:
  explicit served(hocket::http::router&& routes)
      : table_(hocket::http::detail::router_access::freeze(std::move(routes))) {}

  const hocket::http::detail::route_table& table() const noexcept { return *table_; }

  // Finds the route and gives the response, now if that is possible, else by the task.
  hocket::http::response respond(made_request& holder) const {
    table_->find(*holder);
    if (!table_->is_plain(*holder)) return hocket::sync_wait(table_->respond(*holder));
    // Both ways give the same response.
    const hocket::http::response awaited = hocket::sync_wait(table_->respond(*holder));
    hocket::http::response answer = table_->respond_now(*holder);
    CHECK(awaited.status() == answer.status());
    CHECK(text_of(awaited) == text_of(answer));
    return answer;
  }
  hocket::http::response respond(std::string_view method, std::string_view target) const {
    made_request holder(std::string(method) + " " + std::string(target) + " HTTP/1.1\nHost: a");
    return respond(holder);
  }
  int status(std::string_view method, std::string_view target) const {
    return static_cast<int>(respond(method, target).status());
  }
  // Of a handler that answers with a text that it owns.
  std::string text(std::string_view method, std::string_view target) const { return text_of(respond(method, target)); }

 private:
  std::unique_ptr<const hocket::http::detail::route_table> table_;
};

}  // namespace hocket_test
