// Bytes on their way beside cancels, time-outs and closes, from any thread: none is lost, doubled or out of order. With
// kills: nothing twice, and nothing out of order.
#include <hocket/io/stream.hpp>

#include "stress/rounds.hpp"
#include "support/sockets.hpp"

#include <array>

using namespace hocket_test;

namespace {

constexpr std::size_t pair_count = 12;

std::atomic<std::uint64_t> ended_early{0};  // operations that a cancel, a kill, a time-out or a close has ended

// The byte at a place of every stream.
char at_place(std::uint64_t place) { return static_cast<char>(place * 0x9e37'79b9'7f4a'7c15u >> 56); }

struct one_way {
  stream_pair ends;
  std::atomic<std::uint64_t> sent{0}, received{0};
  std::atomic<bool> closes{false};

  explicit one_way(stream_pair of) : ends(std::move(of)) {}

  // In order. False: the end.
  bool take(std::span<const char> bytes) {
    for (const char byte : bytes) REQUIRE(byte == at_place(received++));
    return !bytes.empty();
  }
};

std::span<char> some_of(std::array<char, 3000>& buffer, detail::random_engine& random) {
  return std::span(buffer).first(1 + random.below(random.below(2) == 0 ? 16 : 3000));
}

// Until the end of the stream. Whatever ends a read, its bytes count.
task<> read_all(one_way& from, std::uint64_t seed) {
  detail::random_engine random(seed);
  std::array<char, 3000> buffer;
  for (;;) {
    const auto into = some_of(buffer, random);
    auto got = co_await within(no_or_short_time(random), from.ends.far.read_some(into));
    if (!got) {
      ++ended_early;
      continue;
    }
    if (!from.take(into.first(*got))) co_return;
  }
}

// In a coroutine of its own, which is cancelled.
task<std::size_t> read_once(stream& from, std::span<char> into) {
  auto got = co_await from.read_some(into);
  co_return got ? *got : ~std::size_t{0};
}
task<> read_in_children(one_way& from, std::uint64_t seed) {
  detail::random_engine random(seed);
  std::array<char, 3000> buffer;
  for (;;) {
    const auto into = some_of(buffer, random);
    auto child = spawn(read_once, std::ref(from.ends.far), into);
    for (std::uint32_t i = random.below(4); i > 0; --i) co_await yield();
    if (random.below(2) == 0) child.cancel();
    const std::size_t got = co_await child;
    if (got == ~std::size_t{0}) {
      ++ended_early;
      continue;
    }
    if (!from.take(into.first(got))) co_return;
  }
}

void write_in_fiber(one_way& to, std::uint64_t seed, std::uint64_t count) {
  detail::random_engine random(seed);
  std::array<char, 3000> buffer;
  while (to.sent != count) {
    auto from = some_of(buffer, random);
    from = from.first(std::min<std::uint64_t>(from.size(), count - to.sent));
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = at_place(to.sent + i);
    auto put = await(within(no_or_short_time(random), to.ends.near.write_some(from)));
    if (put) to.sent += *put;
    else ++ended_early;
  }
  to.ends.near.close();
}

// Returns whether these bytes are at this place.
bool stand_at(std::span<const char> bytes, std::uint64_t place) {
  for (const char byte : bytes) {
    if (byte != at_place(place++)) return false;
  }
  return true;
}

// A kill may have lost bytes, at most as many as the read asked for: looks for what came.
task<> read_beside_kills(one_way& from, std::uint64_t seed) {
  detail::random_engine random(seed);
  std::array<char, 3000> buffer;
  std::uint64_t lost = 0;
  for (;;) {
    const auto into = some_of(buffer, random);
    auto child = spawn(read_once, std::ref(from.ends.far), into);
    if (random.below(3) == 0) co_await yield();
    if (random.below(8) == 0) child.kill();
    auto got = co_await child.join();
    if (!got || *got == ~std::size_t{0}) {
      ++ended_early;
      if (from.closes) co_return;
      lost += into.size();
      continue;
    }
    if (*got == 0) co_return;
    std::uint64_t place = from.received;
    while (!stand_at(into.first(*got), place)) REQUIRE(place++ <= from.received + lost);
    lost -= place - from.received;
    from.received = place + *got;
  }
}

task<> write_until_closed(one_way& to, std::uint64_t seed) {
  detail::random_engine random(seed);
  std::array<char, 3000> buffer;
  for (;;) {
    const auto from = some_of(buffer, random);
    for (std::size_t k = 0; k < from.size(); ++k) from[k] = at_place(to.sent + k);
    auto put = co_await to.ends.near.write_some(from);
    if (!put) co_return;
    to.sent += *put;
  }
}

}  // namespace

TEST_CASE("bytes are conserved beside cancels and time-outs") {
  in_rounds([](hocket::runtime& rt, detail::random_engine& random) {
    std::vector<std::unique_ptr<one_way>> ways;
    std::vector<join_handle<>> all;
    for (std::size_t i = 0; i < pair_count; ++i) {
      ways.push_back(std::make_unique<one_way>(i % 3 == 0 ? piped() : connected(i % 3 == 1 ? 4096 : 0)));
      one_way& one = *ways.back();
      if (i % 2 == 0) all.push_back(spawn(rt, read_all, std::ref(one), random()));
      else all.push_back(spawn(rt, read_in_children, std::ref(one), random()));
      const spawn_options options{.migratable = i % 4 < 2};
      all.push_back(spawn(rt, options, write_in_fiber, std::ref(one), random(), std::uint64_t{20'000}));
    }
    wait_for(all);
    for (const auto& one : ways) CHECK(one->received == one->sent);
  });
  MESSAGE(ended_early.exchange(0), " operations were ended early");
}

TEST_CASE("bytes come once and in order beside kills and closes") {
  in_rounds([](hocket::runtime& rt, detail::random_engine& random) {
    std::vector<std::unique_ptr<one_way>> ways;
    std::vector<join_handle<>> all;
    for (std::size_t i = 0; i < pair_count; ++i) {
      ways.push_back(std::make_unique<one_way>(connected(4096)));
      one_way& one = *ways.back();
      all.push_back(spawn(rt, read_beside_kills, std::ref(one), random()));
      all.push_back(spawn(rt, write_until_closed, std::ref(one), random()));
    }
    for (int i = 0; i < 20; ++i) std::this_thread::yield();
    for (const auto& one : ways) {
      one->closes = true;
      (random.below(2) == 0 ? one->ends.near : one->ends.far).close();
    }
    wait_for(all);
    for (const auto& one : ways) CHECK(one->received <= one->sent);
  });
  MESSAGE(ended_early.exchange(0), " operations were ended early");
}
