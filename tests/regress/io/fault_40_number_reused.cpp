// FAULTS 40: a descriptor is closed while an operation waits, and the next one gets its number at once. The operation
// ends with operation_canceled, and no event of the old file reaches the new one.
#include <hocket/coro/spawn.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/sockets.hpp"
#include "support/waits.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// The byte, or why there is none.
task<result<char>> read_one(stream& from) {
  char byte = 0;
  const result<std::size_t> got = co_await from.read_some(std::span(&byte, 1));
  if (!got) co_return failure(got.error());
  co_return *got == 1 ? byte : '\0';
}

struct counts {
  std::atomic<int> rounds{0}, reused{0}, canceled{0}, right{0};
};

task<> reuse_once(runtime& rt, counts& all) {
  stream_pair old = connected();
  auto old_reader = spawn(rt, read_one, std::ref(old.far));
  co_await until_waits(old.far);
  const int number = old.far.native_handle();
  old.far.close();
  stream_pair fresh = connected();
  if (fresh.near.native_handle() == number || fresh.far.native_handle() == number) ++all.reused;
  auto fresh_reader = spawn(rt, read_one, std::ref(fresh.far));
  co_await until_waits(fresh.far);
  old.near.close();
  const result<char> ended = co_await old_reader.join();
  if (!ended && ended.error() == std::errc::operation_canceled) ++all.canceled;
  for (int i = 0; i < 3; ++i) static_cast<void>(co_await yield());
  if (fresh_reader.done()) co_return;
  static_cast<void>(co_await fresh.near.write_all("n"));
  const result<char> got = co_await fresh_reader.join();
  if (got == 'n') ++all.right;
}

task<> reuse_often(runtime& rt, counts& all, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await reuse_once(rt, all);
    ++all.rounds;
  }
}

}  // namespace

TEST_CASE("no event of a closed descriptor reaches the next one of its number, on several workers (fault 40)") {
  constexpr int coroutines = 8, rounds = 500;
  counts all;
  runtime rt({.workers = 4});
  std::vector<join_handle<>> handles;
  for (int i = 0; i < coroutines; ++i) handles.push_back(spawn(rt, reuse_often, std::ref(rt), std::ref(all), rounds));
  for (auto& one : handles) sync_wait(one);
  CHECK(all.rounds == coroutines * rounds);
  CHECK(all.canceled == coroutines * rounds);
  CHECK(all.right == coroutines * rounds);
  CHECK(all.reused > 0);
}
