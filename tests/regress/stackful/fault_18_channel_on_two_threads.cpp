// FAULTS 18: a channel whose inner lock puts threads to sleep for a while stops everybody (boostorg/fiber#254). Eight
// fibers on two threads send and receive through a channel with few places, until all items are through.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/spsc_channel.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace hocket;

TEST_CASE("fault 18: eight fibers on two threads send and receive without end") {
  constexpr int each = detail::sanitizer == detail::sanitizer_kind::plain && !detail::conforming_mode ? 50'000 : 2'000;
  for (const std::size_t places : {0u, 1u, 8u}) {
    runtime rt({.workers = 2});
    channel<int> c(places);
    std::atomic<long> sum{0};
    std::atomic<int> senders{4};
    std::vector<join_handle<>> handles;
    for (int i = 0; i < 4; ++i) {
      handles.push_back(spawn(rt, [&] {
        for (int n = 1; n <= each; ++n) {
          auto sent = await(c.send(n));
          if (!sent) break;
        }
        if (--senders == 0) c.close();
      }));
      handles.push_back(spawn(rt, [&] {
        long mine = 0;
        while (auto n = await(c.receive())) mine += *n;
        sum += mine;
      }));
    }
    for (auto& one : handles) sync_wait(std::move(one));
    CHECK(sum == 4L * each * (each + 1) / 2);
  }
}

TEST_CASE("fault 18: pairs of fibers on two threads send and receive one to one without end") {
  constexpr int each = detail::sanitizer == detail::sanitizer_kind::plain && !detail::conforming_mode ? 50'000 : 2'000;
  for (const std::size_t places : {1u, 8u}) {
    runtime rt({.workers = 2});
    std::vector<std::unique_ptr<spsc_channel<int>>> pairs;
    for (int i = 0; i < 4; ++i) pairs.push_back(std::make_unique<spsc_channel<int>>(places));
    std::atomic<long> sum{0};
    std::vector<join_handle<>> handles;
    for (auto& one : pairs) {
      handles.push_back(spawn(rt, [&c = *one] {
        for (int n = 1; n <= each; ++n) {
          auto sent = await(c.send(n));
          if (!sent) break;
        }
        c.close();
      }));
      handles.push_back(spawn(rt, [&sum, &c = *one] {
        long mine = 0;
        while (auto n = await(c.receive())) mine += *n;
        sum += mine;
      }));
    }
    for (auto& one : handles) sync_wait(std::move(one));
    CHECK(sum == 4L * each * (each + 1) / 2);
  }
}
