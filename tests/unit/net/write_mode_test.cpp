// write_mode::more_follows, and several buffers through sinks.
#include <hocket/base/clock.hpp>
#include <hocket/io/byte_stream.hpp>
#include <hocket/io/seam/stacked_backend.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/io/timeout_stream.hpp>

#include "support/tcp_pair.hpp"

#include <array>
#include <doctest/doctest.h>
#include <linux/sockios.h>
#include <string>
#include <sys/ioctl.h>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;
using hocket_test::make_tcp_pair;
using hocket_test::tcp_pair;

static_assert(gathering_sink<stream> && gathering_sink<tcp::stream> && gathering_sink<timeout_stream<tcp::stream>>);
static_assert(byte_sink<timeout_stream<tcp::stream>>);

namespace {

int unsent(const tcp::stream& writer) {
  int count = -1;
  REQUIRE(::ioctl(writer.native_handle(), SIOCOUTQNSD, &count) == 0);
  return count;
}

std::string read(tcp::stream& from, std::size_t size) {
  std::string text(size, ' ');
  CHECK(sync_wait(from.read_exactly(mutable_buffer(text.data(), size))).value() == size);
  return text;
}

// Notes the mode of each write, and passes it on.
class noting_backend final : public detail::stacked_backend {
 public:
  const char* name() const noexcept override { return "noting"; }
  std::vector<bool> more;

 private:
  detail::call_end read(detail::open_descriptor& at, detail::transfer& operation) noexcept override {
    return call_below(at, operation);
  }
  detail::call_end write(detail::open_descriptor& at, detail::transfer& operation) noexcept override {
    more.push_back(operation.more != 0);
    return call_below(at, operation);
  }
  void release() noexcept override {}
};

}  // namespace

// The system sends the bytes by itself after 200 ms. A test that was suspended for so long sees nothing.
TEST_CASE("TCP holds the bytes of a write back until the write that follows") {
  for (const bool gathers : {false, true}) {
    CAPTURE(gathers);
    tcp_pair ends = make_tcp_pair();
    const std::array<const_buffer, 2> head{const_buffer("he"), const_buffer("ad")};
    const time_point begin = steady_clock().now();
    if (gathers) CHECK(sync_wait(ends.near.write_all(head, write_mode::more_follows)).value() == 4);
    else CHECK(sync_wait(ends.near.write_all("head", write_mode::more_follows)).value() == 4);
    const int held = unsent(ends.near);
    if (steady_clock().now() - begin < 100ms) CHECK(held == 4);
    CHECK(sync_wait(ends.near.write_all("body", write_mode::complete)).value() == 4);
    CHECK(unsent(ends.near) == 0);
    CHECK(read(ends.far, 8) == "headbody");
  }
}

TEST_CASE("a timeout_stream takes several buffers, and the mode") {
  tcp_pair ends = make_tcp_pair();
  timeout_stream limited(ends.near, 30s);
  const std::array<const_buffer, 2> parts{const_buffer("he"), const_buffer("ad")};
  CHECK(sync_wait(limited.write_all(parts)).value() == 4);
  CHECK(sync_wait(limited.write_all(parts, write_mode::more_follows)).value() == 4);
  CHECK(sync_wait(limited.write_all("body", write_mode::complete)).value() == 4);
  CHECK(read(ends.far, 12) == "headheadbody");
}

TEST_CASE("a stacked backend sees that a write follows, also between the buffers of one write") {
  tcp_pair ends = make_tcp_pair();
  noting_backend noting;
  REQUIRE(noting.push(detail::descriptor_access::record_of(ends.near)) == 0);
  const std::array<const_buffer, 2> parts{const_buffer("ab"), const_buffer("cd")};
  CHECK(sync_wait(ends.near.write_all("x")).has_value());
  CHECK(sync_wait(ends.near.write_all("x", write_mode::more_follows)).has_value());
  CHECK(sync_wait(ends.near.write_all(parts)).has_value());
  CHECK(sync_wait(ends.near.write_all(parts, write_mode::more_follows)).has_value());
  CHECK(noting.more == std::vector<bool>{false, true, true, false, true, true});
  ends.near.close();
}
