#include <hocket/base/error.hpp>

#include <array>
#include <cctype>
#include <doctest/doctest.h>
#include <ostream>
#include <set>
#include <string>

using namespace hocket;

namespace {

struct expected_error {
  errc error;
  std::errc equal;
};
constexpr std::array every_error{
    expected_error{errc::closed, std::errc::broken_pipe},
    expected_error{errc::killed, std::errc::operation_canceled},
    expected_error{errc::end_of_stream, std::errc::no_message_available},
    expected_error{errc::partial_write, std::errc::io_error},
    expected_error{errc::cancelled, std::errc::operation_canceled},
    expected_error{errc::deadline_exceeded, std::errc::timed_out},
    expected_error{errc::full, std::errc::resource_unavailable_try_again},
    expected_error{errc::peer_lost, std::errc::connection_aborted},
};

}  // namespace

TEST_CASE("each error of hocket equals the nearest std::errc, and has a text of its own without numbers") {
  std::set<std::string> texts;
  for (const expected_error& expected : every_error) {
    const std::error_code code = expected.error;
    CAPTURE(code.message());
    CHECK(code == expected.equal);
    CHECK(texts.insert(code.message()).second);
    for (const char c : code.message()) CHECK_FALSE(std::isdigit(static_cast<unsigned char>(c)));
    CHECK(code.message() != std::make_error_code(expected.equal).message());
  }
  const std::error_code lost = errc::peer_lost;
  CHECK(lost != std::errc::timed_out);
}

TEST_CASE("a number that names no error has a text, and equals nothing") {
  const std::error_code none(12345, error_category());
  CHECK(none.message() == "unknown error");
  for (const expected_error& expected : every_error) CHECK(none != expected.equal);
}

TEST_CASE("the exception of a cancelled wait has the code of a cancelled wait") {
  CHECK(cancelled().code() == errc::cancelled);
  CHECK(cancelled().code() == std::errc::operation_canceled);
}
