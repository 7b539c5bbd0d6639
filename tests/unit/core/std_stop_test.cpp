#include <hocket/core/std_stop.hpp>

#include <doctest/doctest.h>
#include <stop_token>
#include <thread>

using namespace hocket;

TEST_CASE("a stop of the standard's cancels, at once or later, and not after the bridge") {
  std::stop_source theirs;
  stop_source ours, late, left;
  stop_bridge bridge(theirs.get_token(), ours);
  {
    stop_bridge gone(theirs.get_token(), left);
  }
  CHECK(ours.requested() == stop_level::none);
  theirs.request_stop();
  CHECK(ours.requested() == stop_level::cancel);
  CHECK(left.requested() == stop_level::none);
  stop_bridge second(theirs.get_token(), late);
  CHECK(late.requested() == stop_level::cancel);
}

TEST_CASE("a token without a source cancels nothing") {
  stop_source ours;
  stop_bridge bridge(std::stop_token{}, ours);
  CHECK(ours.requested() == stop_level::none);
}

TEST_CASE("a jthread's stop ends a wait of hocket's") {
  std::jthread worker([](std::stop_token token) {
    stop_source ours;
    stop_bridge bridge(std::move(token), ours);
    while (ours.requested() == stop_level::none) std::this_thread::yield();
  });
  worker.request_stop();
  worker.join();
}
