#include <hocket/http/detail/field_names.hpp>
#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/errc.hpp>
#include <hocket/http/method.hpp>
#include <hocket/http/status.hpp>
#include <array>
#include <doctest/doctest.h>
#include <set>
#include <string>

namespace {

namespace http = hocket::http;
using namespace hocket::http::detail;

TEST_CASE("each method is found by its name, and no other text is a method") {
  for (int i = 0; i != static_cast<int>(http::method::other); ++i) {
    const auto m = static_cast<http::method>(i);
    const std::string name(to_string(m));
    CHECK(find_method(name) == m);
    for (std::size_t k = 0; k != name.size(); ++k) {
      std::string changed = name;
      changed[k] = static_cast<char>(changed[k] | 0x20);
      CHECK(find_method(changed) == http::method::other);
      CHECK(find_method(name.substr(0, k)) == http::method::other);
    }
    CHECK(find_method(name + "X") == http::method::other);
  }
  CHECK(to_string(http::method::other).empty());
  CHECK(find_method("") == http::method::other);
  CHECK(find_method("PURGE") == http::method::other);
}

TEST_CASE("each known field is found by its name in any case, and no other name") {
  std::set<std::string> names;
  for (std::size_t i = 0; i != known_field_count; ++i) {
    const auto field = static_cast<known_field>(i);
    std::string name(to_string(field));
    CAPTURE(name);
    CHECK(is_token(name));
    names.insert(name);
    CHECK(find_known_field(name) == field);
    std::string upper;
    std::string lower;
    for (const char c : name) {
      lower += to_lower(c);
      upper += to_lower(c) >= 'a' && to_lower(c) <= 'z' ? static_cast<char>(to_lower(c) & ~0x20) : c;
    }
    CHECK(find_known_field(upper) == field);
    CHECK(find_known_field(lower) == field);
    CHECK(find_known_field(name + "x") == known_field::unknown);
    CHECK(find_known_field(name.substr(1)) == known_field::unknown);
  }
  CHECK(names.size() == 40);
  CHECK(find_known_field("") == known_field::unknown);
  CHECK(find_known_field("x") == known_field::unknown);
  CHECK(to_string(known_field::unknown).empty());
}

// The parser looks a name up before it knows that the name is a token.
TEST_CASE("a known field with one other byte, also a control character, is no known field") {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i != known_field_count; ++i) {
    const std::string name(to_string(static_cast<known_field>(i)));
    for (std::size_t k = 0; k != name.size(); ++k)
      for (int byte = 0; byte != 256; ++byte) {
        std::string changed = name;
        changed[k] = static_cast<char>(byte);
        const auto expected = equals_ignore_case(changed, name) ? static_cast<known_field>(i) : known_field::unknown;
        wrong += find_known_field(changed) != expected;
      }
  }
  CHECK(wrong == 0);
}

TEST_CASE("each status has a reason, and each error the reason of its status") {
  int statuses = 0;
  for (int code = 0; code != 1000; ++code) {
    const std::string reason(reason_of(static_cast<http::status>(code)));
    statuses += !reason.empty();
    for (const char c : reason) CHECK((c == ' ' || c == '-' || (to_lower(c) >= 'a' && to_lower(c) <= 'z')));
    const std::error_code error(code, http::error_category());
    const bool is_error = code >= 400 && code <= 599 && !reason.empty();
    CHECK(error.message() == (is_error ? reason : "unknown status"));
  }
  CHECK(statuses == 52);
  CHECK(reason_of(http::status::ok) == "OK");
  CHECK(reason_of(http::status::payload_too_large) == "Content Too Large");
  const std::error_code error = http::errc::not_found;
  CHECK(error.value() == 404);
  CHECK(error.message() == "Not Found");
  CHECK(std::string(error.category().name()) == "hocket.http");
}

}  // namespace
