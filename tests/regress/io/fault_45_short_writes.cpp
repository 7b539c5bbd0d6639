// FAULTS 45: short writes and full buffers. Bytes that are written in pieces, into small buffers, arrive whole: their
// hash is the hash of the sent bytes.
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/sockets.hpp"
#include "support/tcp_pair.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// FNV-1a.
class hash {
 public:
  void add(const unsigned char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ bytes[i]) * 1099511628211u;
    size_ += count;
  }
  friend bool operator==(const hash&, const hash&) = default;
  std::size_t size() const { return size_; }

 private:
  std::uint64_t value_ = 14695981039346656037u;
  std::size_t size_ = 0;
};

// Pieces of up to 150 KB; each third one in two parts.
task<hash> write_pieces(stream& to, std::size_t size) {
  std::vector<unsigned char> piece(150'000);
  std::uint32_t random = 7;
  hash sent;
  for (int i = 0; sent.size() < size; ++i) {
    random = random * 1664525u + 1013904223u;
    const std::size_t count = std::min<std::size_t>(1 + (random >> 8) % piece.size(), size - sent.size());
    for (std::size_t k = 0; k < count; k += 61) piece[k] = static_cast<unsigned char>(random >> (k % 24));
    const std::array<const_buffer, 2> parts{const_buffer(piece.data(), count / 3),
                                            const_buffer(piece.data() + count / 3, count - count / 3)};
    result<std::size_t> put = std::size_t{0};
    if (i % 3 == 0) put = co_await to.write_all(parts);
    else put = co_await to.write_all(const_buffer(piece.data(), count));
    if (!put) break;
    sent.add(piece.data(), *put);
  }
  to.close();
  co_return sent;
}

task<hash> read_pieces(stream& from) {
  std::vector<unsigned char> piece(70'001);
  hash received;
  for (std::size_t next = 1;; next = next * 13 % 69'997 + 1) {
    const result<std::size_t> got = co_await from.read_some(std::span(piece).first(next));
    if (!got || *got == 0) break;
    received.add(piece.data(), *got);
  }
  co_return received;
}

template <class Place, class Wait>
void carry(Place& where, stream& from, stream& to, std::size_t size, Wait wait) {
  auto sent = spawn(where, write_pieces, std::ref(from), size);
  auto received = spawn(where, read_pieces, std::ref(to));
  wait(sent);
  wait(received);
  const hash told = sync_wait(sent);
  CHECK(told.size() == size);
  CHECK(sync_wait(received) == told);
}

// Valgrind and sanitizers take many times as long.
constexpr std::size_t much = detail::sanitizer == detail::sanitizer_kind::plain ? 100'000'000 : 4'000'000;

}  // namespace

TEST_CASE("what a socket with room for 2 KiB sends in pieces arrives whole (fault 45)") {
  loop lp;
  auto [near, far] = connected(2048);
  carry(lp, near, far, much, [&](auto& handle) { lp.run_until(handle); });
}

// With room for 2 KiB, TCP sends the next piece when the last one is acknowledged, which takes 40 ms.
TEST_CASE("what TCP sends in pieces arrives whole, however little room there is (fault 45)") {
  runtime rt({.workers = 4});
  for (const std::size_t room : {std::size_t{2048}, std::size_t{65'536}}) {
    tcp_pair tcp = make_tcp_pair();
    CHECK(tcp.near.set_send_buffer(room).has_value());
    carry(rt, tcp.near, tcp.far, room == 2048 ? 30'000 : much, [](auto&) {});
  }
}

TEST_CASE("what is sent one byte at a time arrives whole, and in order") {
  runtime rt({.workers = 2});
  tcp_pair tcp = make_tcp_pair();
  auto sent = spawn(rt, [&]() -> task<int> {
    int count = 0;
    for (int i = 0; i < 20'000; ++i) {
      const char byte = static_cast<char>(i);
      const result<std::size_t> put = co_await tcp.near.write_all(std::span(&byte, 1));
      if (put) ++count;
    }
    tcp.near.close();
    co_return count;
  });
  auto right = spawn(rt, [&]() -> task<int> {
    for (int i = 0;; ++i) {
      char byte = 0;
      const result<std::size_t> got = co_await tcp.far.read_exactly(std::span(&byte, 1));
      if (!got || byte != static_cast<char>(i)) co_return i;
    }
  });
  CHECK(sync_wait(sent) == 20'000);
  CHECK(sync_wait(right) == 20'000);
}
