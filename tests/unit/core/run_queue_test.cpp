#include <hocket/core/thread/seam/run_queue.hpp>

#include <array>
#include <coroutine>
#include <doctest/doctest.h>

using namespace hocket;

namespace {

constexpr std::size_t room = 64;  // the least that an array has

// Handles that nobody resumes.
struct handles {
  std::array<void*, 4096> places{};
  std::coroutine_handle<> operator[](std::size_t i) { return std::coroutine_handle<>::from_address(&places[i]); }
};

std::coroutine_handle<> take(detail::run_queue& queue) {
  REQUIRE(queue.has_next());
  return queue.pop();
}

}  // namespace

TEST_CASE("a run queue is first in, first out, without an array") {
  handles all;
  std::array<detail::runnable, 10> works{};
  detail::run_queue queue;
  CHECK(queue.empty());
  for (std::size_t i = 0; i < works.size(); ++i) {
    works[i].handle = all[i];
    queue.push(works[i]);
  }
  CHECK(queue.size() == works.size());
  CHECK(queue.size() == 10);
  CHECK(queue.front() == all[0]);
  for (std::size_t i = 0; i < works.size(); ++i) CHECK(take(queue) == all[i]);
  CHECK(queue.empty());
}

TEST_CASE("what does not fit into the array stands behind it, and what comes then behind that") {
  handles all;
  std::array<detail::runnable, 3> works{};
  for (std::size_t i = 0; i < works.size(); ++i) works[i].handle = all[room + i];
  detail::run_queue queue;
  queue.reserve(room);
  for (std::size_t i = 0; i < room; ++i) REQUIRE(queue.try_push(all[i]));
  queue.push(works[0]);
  queue.push(works[1]);
  CHECK(take(queue) == all[0]);  // there is room now, but not in front of those two
  CHECK_FALSE(queue.try_push(all[1000]));
  CHECK_FALSE(queue.try_exchange(all[1000]));
  queue.push(works[2]);
  CHECK(queue.size() == room + 2);
  for (std::size_t i = 1; i < room + 3; ++i) CHECK(take(queue) == all[i]);
  CHECK(queue.empty());
}

TEST_CASE("an array that grows takes in what stood behind it") {
  handles all;
  std::array<detail::runnable, 4> works{};
  detail::run_queue queue;
  for (std::size_t i = 0; i < works.size(); ++i) {
    works[i].handle = all[i];
    queue.push(works[i]);
  }
  queue.reserve(room);
  CHECK(queue.front() == all[0]);
  CHECK(queue.try_push(all[4]));
  for (std::size_t i = 0; i < 5; ++i) CHECK(take(queue) == all[i]);
}

TEST_CASE("peek looks as far ahead as the array goes") {
  handles all;
  detail::run_queue queue;
  CHECK_FALSE(queue.peek(0));
  queue.reserve(room);
  for (std::size_t round = 0; round < room; ++round) {  // around the end of the array
    for (std::size_t i = 0; i < 3; ++i) REQUIRE(queue.try_push(all[i]));
    CHECK(queue.peek(0) == all[0]);
    CHECK(queue.peek(2) == all[2]);
    CHECK_FALSE(queue.peek(3));
    for (std::size_t i = 0; i < 3; ++i) CHECK(take(queue) == all[i]);
  }
  detail::runnable beyond{nullptr, all[room], nullptr};
  for (std::size_t i = 0; i < room; ++i) REQUIRE(queue.try_push(all[i]));
  CHECK_FALSE(queue.try_push(all[room]));
  queue.push(beyond);
  CHECK(queue.peek(room - 1) == all[room - 1]);
  CHECK_FALSE(queue.peek(room));  // it is not in the array
  for (std::size_t i = 0; i <= room; ++i) CHECK(take(queue) == all[i]);
}

TEST_CASE("try_exchange pushes and pops in one, in a full array, too, but not past what stands behind it") {
  handles all;
  detail::run_queue queue;
  queue.reserve(room);
  REQUIRE(queue.try_push(all[0]));
  CHECK(queue.try_exchange(all[1]));
  CHECK(queue.size() == 1);
  CHECK(take(queue) == all[1]);
  for (std::size_t i = 0; i < room; ++i) REQUIRE(queue.try_push(all[i]));
  CHECK(queue.try_exchange(all[room]));
  CHECK(queue.size() == room);
  detail::runnable beyond{nullptr, all[room + 1], nullptr};
  queue.push(beyond);
  CHECK_FALSE(queue.try_exchange(all[room + 2]));
  for (std::size_t i = 1; i <= room + 1; ++i) CHECK(take(queue) == all[i]);
  CHECK(queue.empty());
}

TEST_CASE("a full array has room again for as many as were popped, however often") {
  handles all;
  detail::run_queue queue;
  queue.reserve(room);
  std::size_t pushed = 0, popped = 0;
  const auto expect_next = [&] { CHECK(take(queue) == all[popped++]); };
  for (std::size_t round = 0; round < 3 * room; ++round) {
    while (queue.try_push(all[pushed])) ++pushed;
    CHECK(queue.size() == room);
    CHECK(queue.try_exchange(all[pushed++]));  // past the limit that the push found
    ++popped;
    CHECK_FALSE(queue.try_push(all[pushed]));
    for (std::size_t i = 0; i <= round % 5; ++i) expect_next();
  }
  while (queue.has_next()) expect_next();
  CHECK(popped == pushed);
}

TEST_CASE("a queue is large when it was made for many") {
  handles all;
  detail::run_queue queue;
  CHECK_FALSE(queue.is_large());
  queue.reserve(1024);
  CHECK_FALSE(queue.is_large());
  queue.reserve(1025);
  CHECK(queue.is_large());
  for (std::size_t i = 0; i < 2048; ++i) REQUIRE(queue.try_push(all[i]));
  CHECK(queue.peek(2047) == all[2047]);
  for (std::size_t i = 0; i < 2048; ++i) REQUIRE(take(queue) == all[i]);
}
