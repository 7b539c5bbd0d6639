// The handler of a server and its arguments: one of each for all connections.
#include <hocket/coro/or_return.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/run.hpp>

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <string>

using namespace hocket;

namespace {

std::atomic<int> copies = 0;

struct counted {
  counted() = default;
  counted(const counted&) { ++copies; }
  counted(counted&&) noexcept {}
};

struct counted_handler : counted {
  task<result<void>> operator()(tcp::stream peer, const counted&, const std::unique_ptr<int>& number) const {
    const std::string word = std::to_string(*number);
    co_await or_return(peer.write_all(word));
    co_return {};
  }
};

std::string answer_of(const tcp::server& server) {
  auto peer = sync_wait(tcp::connect(server.local_address())).value();
  std::array<char, 64> words{};
  return {words.data(), sync_wait(peer.read_some(words)).value()};
}

task<result<void>> say(tcp::stream peer, const std::string& words) {
  co_await or_return(peer.write_all(words));
  co_return {};
}
void say_in_fiber(tcp::stream peer, const std::string& words) { static_cast<void>(await(peer.write_all(words))); }
task<result<void>> say_own(tcp::stream peer, std::string words) {
  words += "!";
  co_await or_return(peer.write_all(words));
  co_return {};
}

}  // namespace

TEST_CASE("no connection copies the handler or an argument, and an argument need not be copyable") {
  runtime rt({.workers = 2});
  copies = 0;
  auto server = tcp::serve(rt, "127.0.0.1:0", counted_handler{}, counted{}, std::make_unique<int>(7)).value();
  for (int i = 0; i < 10; ++i) CHECK(answer_of(server) == "7");
  CHECK(copies == 0);
}

TEST_CASE("a parameter by value is a copy of each connection's own") {
  runtime rt({.workers = 2});
  auto server = tcp::serve(rt, "127.0.0.1:0", say_own, std::string("hello")).value();
  for (int i = 0; i < 3; ++i) CHECK(answer_of(server) == "hello!");
}

TEST_CASE("a reference of a handler refers to what the server stores, also of a converted argument") {
  runtime rt({.workers = 2});
  const std::string long_words(40, 'w');  // not in the string itself
  for (int i = 0; i < 3; ++i) {
    auto stored = tcp::serve(rt, "127.0.0.1:0", say, long_words).value();
    CHECK(answer_of(stored) == long_words);
    auto converted = tcp::serve(rt, "127.0.0.1:0", say, long_words.c_str()).value();
    CHECK(answer_of(converted) == long_words);
    auto in_fiber = tcp::serve(rt, "127.0.0.1:0", say_in_fiber, long_words.c_str()).value();
    CHECK(answer_of(in_fiber) == long_words);
  }
}

TEST_CASE("a lambda coroutine uses its captures for as long as its connections live") {
  runtime rt({.workers = 2});
  auto server = tcp::serve(rt, "127.0.0.1:0", [words = std::string(40, 'c')](tcp::stream peer) -> task<result<void>> {
                  char byte = 0;
                  co_await or_return(peer.read_some(std::span(&byte, 1)));
                  co_await or_return(peer.write_all(words));
                  co_return {};
                }).value();
  auto first = sync_wait(tcp::connect(server.local_address())).value();
  auto second = sync_wait(tcp::connect(server.local_address())).value();
  for (tcp::stream* peer : {&first, &second}) {
    sync_wait(peer->write_all("?")).value();
    std::string answer(40, '\0');
    CHECK(sync_wait(peer->read_exactly(answer)) == std::size_t{40});
    CHECK(answer == std::string(40, 'c'));
  }
}

TEST_CASE("what is passed by std::ref is one object for all connections") {
  runtime rt({.workers = 2});
  std::atomic<int> count = 0;
  const auto add = [](tcp::stream peer, std::atomic<int>& to) -> task<result<void>> {
    const std::string words = std::to_string(++to);
    co_await or_return(peer.write_all(words));
    co_return {};
  };
  auto server = tcp::serve(rt, "127.0.0.1:0", add, std::ref(count)).value();
  for (int i = 1; i <= 5; ++i) CHECK(answer_of(server) == std::to_string(i));
  CHECK(count == 5);
}
