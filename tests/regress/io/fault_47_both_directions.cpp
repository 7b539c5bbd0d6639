// FAULTS 47: one event has edges of both directions, while one coroutine reads a stream and another writes it. No
// edge is lost, whichever of the two is served first.
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/sockets.hpp"
#include "support/tcp_pair.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <functional>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t size = 4'000'000;

unsigned char byte_at(std::size_t place, unsigned seed) {
  return static_cast<unsigned char>((place * 2654435761u + seed) >> 16);
}

// Pieces of many sizes, so that the buffers are full and empty in turn.
task<std::size_t> write_pieces(stream& to, unsigned seed) {
  std::vector<unsigned char> piece(90'000);
  std::size_t sent = 0;
  for (std::size_t next = 1; sent != size; next = next * 7 % 89'989 + 1) {
    const std::size_t count = std::min(next, size - sent);
    for (std::size_t i = 0; i < count; ++i) piece[i] = byte_at(sent + i, seed);
    const result<std::size_t> put = co_await to.write_all(std::span(piece).first(count));
    if (!put) co_return sent;
    sent += *put;
  }
  co_return sent;
}

// Returns the number of bytes that arrived as sent.
task<std::size_t> read_pieces(stream& from, unsigned seed) {
  std::vector<unsigned char> piece(90'000);
  std::size_t right = 0;
  for (std::size_t next = 5; right != size; next = next * 11 % 89'989 + 1) {
    const result<std::size_t> got = co_await from.read_some(std::span(piece).first(next));
    if (!got || *got == 0) co_return right;
    for (std::size_t i = 0; i < *got; ++i) {
      if (piece[i] != byte_at(right, seed)) co_return right;
      ++right;
    }
  }
  co_return right;
}

template <class Place, class Wait>
void both_ways(Place& where, stream& near, stream& far, Wait wait) {
  std::vector<join_handle<std::size_t>> all;
  all.push_back(spawn(where, write_pieces, std::ref(near), 1u));
  all.push_back(spawn(where, write_pieces, std::ref(far), 2u));
  all.push_back(spawn(where, read_pieces, std::ref(far), 1u));
  all.push_back(spawn(where, read_pieces, std::ref(near), 2u));
  for (auto& one : all) {
    wait(one);
    CHECK(sync_wait(one) == size);
  }
}

template <class Pair>
void both_ways_everywhere(const std::function<Pair()>& make) {
  {
    Pair ends = make();
    loop lp;
    both_ways(lp, ends.near, ends.far, [&](auto& handle) { lp.run_until(handle); });
  }
  Pair ends = make();
  runtime rt({.workers = 4});
  both_ways(rt, ends.near, ends.far, [](auto&) {});
}

}  // namespace

TEST_CASE("a stream is read and written at the same time by two coroutines at each end (fault 47)") {
  both_ways_everywhere<tcp_pair>([] { return make_tcp_pair(); });
  both_ways_everywhere<stream_pair>([] { return connected(4096); });
}
