// What waits on a stack that may move: buffers on the stack keep it where it is, wherever their addresses stand.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/sockets.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string_view>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

const spawn_options may_hibernate{.hibernate_after = std::chrono::hours(1)};

}  // namespace

TEST_CASE("a list of buffers on the heap keeps the stack of its buffers where it is") {
  auto [near, far] = connected();
  loop lp;
  auto reader = spawn(lp, may_hibernate, [&from = far] {
    std::array<char, 8> room{};
    std::vector<mutable_buffer> list{mutable_buffer(room)};
    const auto got = await(from.read_some(std::span<const mutable_buffer>(list)));
    CHECK(got == std::size_t{5});
    CHECK(std::string_view(room.data(), 5) == "bytes");
  });
  lp.run_for(0ms);
  CHECK(hibernate_parked() == 0);
  sync_wait(near.write_all("bytes")).value();
  lp.run_until(reader);
}

TEST_CASE("a wait that points to nothing on the stack lets it be packed") {
  auto [near, far] = connected();
  auto counter = event_counter::make().value();
  loop lp;
  auto borrower = spawn(lp, may_hibernate, [&from = far] {
    const auto bytes = await(from.read_borrowed());
    CHECK(bytes->text() == "bytes");
  });
  auto taker = spawn(lp, may_hibernate, [&counter] { CHECK(await(counter.take()) == std::uint64_t{3}); });
  lp.run_for(0ms);
  CHECK(hibernate_parked() == 2);
  sync_wait(near.write_all("bytes")).value();
  counter.add(3).value();
  lp.run();
  CHECK(borrower.done());
  CHECK(taker.done());
}
