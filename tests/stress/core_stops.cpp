// Stop sources, their slots, shields and links, by brute force: waits come and go under children that are linked to a
// parent, which is cancelled and then killed meanwhile. Each wait ends once, every child hears of the kill, and link
// and child are gone in the moment in which it has.
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/context/seam/stop_link.hpp>

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

struct node : detail::stop_node {
  primitive::atomic<std::uint32_t> heard{0};
  node() noexcept {
    fire = [](detail::stop_node& self, stop_level how) noexcept {
      auto& word = static_cast<node&>(self).heard;
      word.store(static_cast<std::uint32_t>(how), std::memory_order_release);
      detail::futex_wake_one(word);
    };
  }
  stop_level wait() noexcept {
    while (heard.load(std::memory_order_acquire) == 0) detail::futex_wait(heard, 0);
    return static_cast<stop_level>(heard.load(std::memory_order_acquire));
  }
};

// Waits under `source` until it is killed: some waits end by themselves, some are shielded.
bool waits_until_killed(stop_source& source, int pattern) {
  for (int round = pattern; source.requested() != stop_level::kill; ++round) {
    auto mine = std::make_unique<node>();
    const stop_level ignored = round % 3 == 0 ? stop_level::cancel : source.requested();
    if (ignored == stop_level::kill) break;
    const stop_level refused = source.attach(*mine, static_cast<detail::min_stop_level>(ignored));
    if (refused != stop_level::none) {
      if (refused <= ignored) return false;
      continue;
    }
    if (round % 5 != 0 && source.detach(*mine)) continue;
    if (mine->wait() <= ignored) return false;
  }
  return true;
}

struct worker {
  std::atomic<stop_source*> parent{nullptr};
  std::atomic<int> rounds_done{0};
  bool right = true;

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      stop_source* above = nullptr;
      while ((above = parent.exchange(nullptr)) == nullptr) std::this_thread::yield();
      {
        auto child = std::make_unique<stop_source>();
        detail::stop_link link(*above, *child);
        right = waits_until_killed(*child, round) && right;
      }
      ++rounds_done;
    }
  }
};

}  // namespace

TEST_CASE("waits, shields and links under a parent that is cancelled and killed") {
  constexpr int rounds = 3'000;
  std::array<worker, 3> workers;
  std::vector<std::thread> threads;
  for (auto& one : workers) threads.emplace_back([&] { one.run(rounds); });
  for (int round = 1; round <= rounds; ++round) {
    stop_source parent;
    for (auto& one : workers) one.parent.store(&parent);
    if (round % 2 == 0) std::this_thread::yield();
    parent.request();
    for (int step = 0; step < round % 64; ++step) detail::cpu_relax();
    parent.request(stop_level::kill);
    for (auto& one : workers) {
      while (one.rounds_done.load() < round) std::this_thread::yield();
    }
  }
  for (auto& thread : threads) thread.join();
  for (auto& one : workers) CHECK(one.right);
}

TEST_CASE("several waits share one source with a request") {
  constexpr int rounds = 1'000, sharing = 3;
  int ended = 0;
  for (int round = 0; round < rounds; ++round) {
    stop_source source;
    std::atomic<int> ends{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < sharing; ++i) {
      threads.emplace_back([&, i] { ends += waits_until_killed(source, round + i); });
    }
    source.request();
    source.request(stop_level::kill);
    for (auto& thread : threads) thread.join();
    ended += ends;
  }
  CHECK(ended == rounds * sharing);
}
