// A backend on top of the kernel's, and answers of a backend that contradict themselves.
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/death.hpp"
#include "support/sockets.hpp"
#include "unit/io/upper_backend.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

int push_upper(const stream& on, int& releases) {
  auto* const top = new upper_backend(releases);
  const int error = top->push(detail::descriptor_access::record_of(on));
  if (error != 0) delete top;
  return error;
}

std::string text_of(std::span<const char> bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

TEST_CASE("a stacked backend changes what is read and written, in one buffer and in several, whole and in part") {
  int releases = 0;
  stream_pair ends = connected();
  REQUIRE(push_upper(ends.near, releases) == 0);
  const std::string large(100'000, 'x');
  loop lp;
  spawn(lp, [&] {
    CHECK(await(ends.near.write_all(const_buffer("hello", 5))));
    const std::array<const_buffer, 2> parts{const_buffer("ab", 2), const_buffer("cd", 2)};
    CHECK(await(ends.near.write_all(parts)));
    CHECK(await(ends.near.write_all(const_buffer(large.data(), large.size()))));
    std::array<char, 3> first{};
    std::array<char, 4> second{};
    const std::array<mutable_buffer, 2> buffers{mutable_buffer(first.data(), 3), mutable_buffer(second.data(), 4)};
    CHECK(await(ends.near.read_exactly(buffers)));
    CHECK(text_of(first) + text_of(second) == "ANSWERS");
    CHECK(await(read_all(ends.near)).value() == "REST");
  });
  spawn(lp, [&] {
    std::string buffer(9 + large.size(), ' ');
    CHECK(await(ends.far.read_exactly(mutable_buffer(buffer.data(), buffer.size()))));
    CHECK(buffer == "HELLOABCD" + std::string(large.size(), 'X'));
    CHECK(await(ends.far.write_all(const_buffer("answersrest", 11))));
    ends.far.close();
  });
  lp.run();
  CHECK(releases == 0);
  ends.near.close();
  CHECK(releases == 1);
}

TEST_CASE("a stacked backend lends its bytes, and forwards readiness and the end of the peer") {
  int releases = 0;
  stream_pair ends = connected();
  REQUIRE(push_upper(ends.near, releases) == 0);
  loop lp;
  spawn(lp, [&] {
    CHECK(await(ends.near.readable()));
    const auto lent = await(ends.near.read_borrowed());
    CHECK(std::string(lent.value().text()) == "PING");
    CHECK(await(ends.near.closed()).value() == peer_end::closed);
  });
  spawn(lp, [&] {
    CHECK(await(ends.far.write_all(const_buffer("ping", 4))));
    await(yield());
    ends.far.close();
  });
  lp.run();
}

TEST_CASE("two backends may be stacked, and none while an operation waits or behind close()") {
  int releases = 0;
  stream_pair ends = connected();
  REQUIRE(push_upper(ends.near, releases) == 0);
  REQUIRE(push_upper(ends.near, releases) == 0);
  loop lp;
  spawn(lp, [&] {
    std::array<char, 4> buffer{};
    CHECK(await(ends.near.read_exactly(mutable_buffer(buffer.data(), buffer.size()))));
    CHECK(text_of(buffer) == "WORD");
  });
  while (lp.step()) {
  }
  CHECK(push_upper(ends.near, releases) == EBUSY);
  REQUIRE(::send(ends.far.native_handle(), "word", 4, 0) == 4);
  lp.run();
  ends.near.close();
  CHECK(push_upper(ends.near, releases) == EBADF);
  CHECK(releases == 2);
}

TEST_CASE("a backend that ends a transfer and answers that it goes on is fatal at level debug, by its name" *
          doctest::skip(!detail::debug_checks)) {
  struct contradicting : upper_backend {
    using upper_backend::upper_backend;
    const char* name() const noexcept override { return "contradicting"; }
    call_end read(detail::open_descriptor&, transfer& operation) noexcept override {
      operation.fail(EIO);
      return call_end::blocks;
    }
  };
  hocket_test::expect_fatal(
      [] {
        int releases = 0;
        stream_pair ends = connected();
        auto* const top = new contradicting(releases);
        REQUIRE(top->push(detail::descriptor_access::record_of(ends.near)) == 0);
        std::array<char, 4> buffer{};
        static_cast<void>(sync_wait(ends.near.read_some(mutable_buffer(buffer.data(), buffer.size()))));
      },
      "a backend has ended a transfer, and answers that the transfer goes on");
}
