// Files and event counters, for every kind that waits for I/O.
#pragma once
#include <hocket/io/event_counter.hpp>
#include <hocket/io/file.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>

namespace hocket_test {

using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("a file is written, read, cut, extended and synchronised at any place", Kind, HOCKET_IO_KINDS) {
  temporary_folder folder;
  Kind world;
  auto work = [&]() -> typename Kind::body {
    auto opened = co_await hocket::file::open(folder / "data", {.write = true, .create = true});
    REQUIRE(opened.has_value());
    hocket::file one = std::move(*opened);
    auto put = co_await one.write_at("world", 6);
    CHECK(put == std::size_t{5});
    put = co_await one.write_at("hello ", 0);
    CHECK(put == std::size_t{6});
    std::array<char, 8> buffer;
    auto got = co_await one.read_at(buffer, 6);
    REQUIRE(got == std::size_t{5});
    CHECK(std::string_view(buffer.data(), 5) == "world");
    got = co_await one.read_at(buffer, 11);
    CHECK(got == std::size_t{0});
    auto whole = co_await one.read_all();
    CHECK(whole == "hello world");
    auto cut = co_await one.resize(5);
    CHECK(cut.has_value());
    auto size = co_await one.size();
    CHECK(size == std::uint64_t{5});
    auto synced = co_await one.sync();
    CHECK(synced.has_value());
    synced = co_await hocket::within(1h, one.sync_data());
    CHECK(synced.has_value());
    cut = co_await one.resize(7);
    CHECK(cut.has_value());
    whole = co_await one.read_all();
    CHECK(whole == std::string("hello\0\0", 7));
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

TEST_CASE_TEMPLATE("a whole file is read and replaced by its name", Kind, HOCKET_IO_KINDS) {
  temporary_folder folder;
  std::string much(3'000'000, 'm');
  for (std::size_t i = 0; i < much.size(); ++i) much[i] = static_cast<char>('a' + i % 23);
  Kind world;
  auto work = [&]() -> typename Kind::body {
    auto put = co_await hocket::write_file(folder / "text", much);
    CHECK(put == much.size());
    auto got = co_await hocket::read_file(folder / "text");
    CHECK(got == much);
    put = co_await hocket::write_file(folder / "text", "short");
    CHECK(put == std::size_t{5});
    got = co_await hocket::read_file(folder / "text");
    CHECK(got == "short");
    got = co_await hocket::read_file(folder / "text", 5);
    CHECK(got == "short");
    got = co_await hocket::read_file(folder / "text", 4);
    CHECK(got.error_or({}) == std::errc::file_too_large);
    got = co_await hocket::read_file("/proc/self/status");  // whose size the system does not tell
    CHECK(got.value_or("").starts_with("Name:"));
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

TEST_CASE_TEMPLATE("a counter gives the sum of what was added, and waits for more", Kind, HOCKET_IO_KINDS) {
  hocket::event_counter news = hocket::event_counter::make().value();
  Kind world;
  auto take = [&]() -> typename Kind::body {
    std::uint64_t sum = 0;
    while (sum != 1003) {
      auto some = co_await news.take();
      REQUIRE(some.has_value());
      CHECK(*some > 0);
      sum += *some;
    }
    auto none = co_await hocket::within(1ms, news.take());
    CHECK(none.error_or({}) == std::errc::timed_out);
  };
  CHECK(news.add(3).has_value());
  const int taker = world.start(take);
  std::thread adds([&] {
    for (int i = 0; i < 1000; ++i) CHECK(news.add().has_value());
  });
  world.finish();
  adds.join();
  CHECK(world.ended(taker) == fate::ended);
}

}  // namespace hocket_test
