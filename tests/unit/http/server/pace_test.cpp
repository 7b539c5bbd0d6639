// The bucket of time of a slow peer.
#include "http/pace.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace std::chrono_literals;
using http::detail::pace;

TEST_CASE("a silent peer has the whole reserve, whatever it has sent before") {
  pace speed(1024, 10s);
  CHECK(speed.patience() == 10s);
  speed.count(4s, 0);
  CHECK(speed.patience() == 6s);
  speed.count(1s, std::size_t{1} << 40);
  CHECK(speed.patience() == 10s);
  speed.count(20s, 0);
  CHECK(speed.patience() == 0s);
}

TEST_CASE("a byte restores its part of a second") {
  pace speed(1024, 10s);
  speed.count(5s, 0);
  speed.count(1s, 1024);
  CHECK(speed.patience() == 5s);
  speed.count(1s, 512);
  CHECK(speed.patience() == 4500ms);
  speed.count(0s, 1);
  CHECK(speed.patience() > 4500ms);
}

TEST_CASE("a peer at the rate is never given up, one below it after grace / (1 - its rate / the rate)") {
  pace speed(1000, 10s);
  for (int i = 0; i < 10'000; ++i) speed.count(1s, 1000);
  CHECK(speed.patience() == 10s);
  int seconds = 0;
  for (; speed.patience() != 0s; ++seconds) speed.count(1s, 500);
  CHECK(seconds == 20);
}

TEST_CASE("without a rate there is no limit, and a restart fills the reserve") {
  pace none(0, 10s);
  none.count(1h, 0);
  CHECK(none.patience() == duration::max());
  pace speed(1, 10s);
  speed.count(9s, 0);
  speed.restart();
  CHECK(speed.patience() == 10s);
}

TEST_CASE("the reserve of answers begins with the grace, and grows by bytes up to six times that") {
  CHECK(pace::reserve_of_answers(10s) == 60s);
  pace speed(1024, 10s, 60s);
  CHECK(speed.patience() == 10s);
  speed.count(0s, 1024);
  CHECK(speed.patience() == 11s);
  speed.count(4s, 0);
  CHECK(speed.patience() == 7s);
  speed.count(0s, 53 * 1024);
  CHECK(speed.patience() == 60s);
  speed.count(0s, std::size_t{1} << 40);
  CHECK(speed.patience() == 60s);
  speed.count(60s, 0);
  CHECK(speed.patience() == 0s);
  speed.restart();
  CHECK(speed.patience() == 10s);
}

TEST_CASE("a reserve of answers that would overflow is none") {
  CHECK(pace::reserve_of_answers(duration::max()) == duration::max());
  CHECK(pace::reserve_of_answers(duration::max() / 7) == duration::max());
  pace none(1024, duration::max(), pace::reserve_of_answers(duration::max()));
  none.count(1h, 0);
  CHECK(none.patience() == duration::max());
}

TEST_CASE("a long grace and a large rate do not overflow") {
  pace speed(0xffff'ffff, 24h * 365);
  speed.count(1h, std::size_t{1} << 62);
  CHECK(speed.patience() == 24h * 365);
}
