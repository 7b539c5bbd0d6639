// A connection that its peer has reset has no peer any more, and what had arrived can still be read: it is marked like
// another one. A socket that was never connected is not.
#include "connection_calls.hpp"

#include <marked_sockets.hpp>

using namespace hooked_tests;

TEST_CASE("a connection that was reset after its answer, before the ended fiber runs, is marked like another one") {
  // In the order: the end, the answer, the reset. The answer can still be read then.
  const auto answer_and_reset = [](connection_ends& ends) {
    ends.answer();
    reset_connection(ends.server());
    pollfd pfd{ends.client(), POLLIN, 0};
    while ((pfd.revents & POLLHUP) == 0) REQUIRE(::poll(&pfd, 1, -1) == 1);
    char byte = 0;
    REQUIRE(::recv(ends.client(), &byte, 1, MSG_PEEK) == 1);
  };
  const auto expect = [&](connection_ends& ends, auto call) {
    const others beside;
    loop lp;
    auto ended = spawn(lp, hook::hooked([&] { call(beside); }));
    spawn(lp, [&] {
      ended.cancel();
      answer_and_reset(ends);
    });
    lp.run();
    expect_refused_everywhere(ends.client(), beside);
  };
  for (const polling& each : polls) {
    CAPTURE(std::string(each.name));
    connection_ends ends;
    expect(ends, [&](const others&) { CHECK(each.call(ends.client(), -1) == 1); });
  }
  for (const transfer& each : transfers) {
    if (!each.is_of_input) continue;
    CAPTURE(std::string(each.name));
    connection_ends ends;
    expect(ends, [&](const others& beside) {
      CHECK(each.call(ends.client(), beside) == -1);
      CHECK(errno == ECONNABORTED);
    });
  }
}

TEST_CASE("a killed fiber's transfer at a connection which its peer has reset fails with ECONNABORTED and marks it") {
  for (const transfer& each : transfers) {
    CAPTURE(std::string(each.name));
    const others beside;
    connection_ends ends;
    ends.answer();
    reset_connection(ends.server());
    run_and_end(ending::kill, [&] {
      CHECK(::poll(nullptr, 0, 3'600'000) == -1);
      CHECK(each.call(ends.client(), beside) == -1);
      CHECK(errno == ECONNABORTED);
    });
    in_fiber([&] { expect_refused(ends.client(), beside); });
  }
}

TEST_CASE("a killed fiber's poll of a stream socket that was never connected fails with ECANCELED and marks nothing") {
  const int fresh = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int fresh_unix = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  for (const int fd : {fresh, fresh_unix})
    run_and_end(ending::kill, [&] {
      CHECK(::poll(nullptr, 0, 3'600'000) == -1);
      pollfd pfd{fd, POLLIN, 0};
      CHECK(::poll(&pfd, 1, 0) == -1);
      CHECK(errno == ECANCELED);
    });
  CHECK_FALSE(hook::has_marks());
  ::close(fresh);
  ::close(fresh_unix);
}
