// The threads' mutex under every schedule: the library's own file, found by another path than the stand-in that the
// other models use. Threads that spin are threads that may look at any moment, so the loop of looks adds nothing here
// but states: the variants below have none.
#include <base/mutex.hpp>

#include <optional>

#include "verdict.hpp"

namespace {

using hocket::atomic;
using hocket::thread_mutex;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
namespace model = hocket::model;

// Each counts once under the mutex.
template <class Mutex, int Threads>
void all_count(execution& run) {
  atomic<std::uint32_t> sleepers{0, "sleepers"};
  hocket::detail::counted_sleepers = &sleepers;
  Mutex mutex;
  var<int> count{0, "count"};
  for (int i = 0; i < Threads; ++i) {
    run.thread("counter", [&] {
      mutex.lock();
      count = count + 1;
      mutex.unlock();
    });
  }
  run.join();
  require(count == Threads, "somebody's count was lost");
  require(sleepers.load(std::memory_order_relaxed) == 0, "somebody who has the mutex is counted as a sleeper");
}

// The last one who holds the mutex destroys it.
template <class Mutex>
void last_one_destroys(execution& run) {
  atomic<std::uint32_t> sleepers{0, "sleepers"};
  hocket::detail::counted_sleepers = &sleepers;
  std::optional<Mutex> mutex(std::in_place);
  Mutex& it = *mutex;
  var<int> users{2, "users"};
  for (int i = 0; i < 2; ++i) {
    run.thread("user", [&] {
      it.lock();
      users = users - 1;
      const bool last = users == 0;
      it.unlock();
      if (last) mutex.reset();
    });
  }
  run.join();
}

// What may be left out of the protocol, one by one. No spinning.
enum class without { nothing, heavy_half, light_half, count_first, release, acquire, look_again };

template <without Left>
class weakened {
  static constexpr auto acquire = Left == without::acquire ? std::memory_order_relaxed : std::memory_order_acquire;
  static constexpr auto release = Left == without::release ? std::memory_order_relaxed : std::memory_order_release;

 public:
  void lock() {
    std::uint32_t seen = 0;
    if (!word_.compare_exchange_strong(seen, 1, acquire, std::memory_order_relaxed)) sleep();
  }
  void unlock() {
    auto& sleepers = hocket::detail::sleepers_near(this);
    if constexpr (Left == without::look_again) {
      const bool any = sleepers.load(std::memory_order_relaxed) != 0;
      word_.store(0, release);
      if (any) hocket::futex_wake_one(word_);
      return;
    }
    word_.store(0, release);
    if constexpr (Left != without::light_half) hocket::light_fence();
    if (sleepers.load(std::memory_order_relaxed) != 0) hocket::futex_wake_one(word_);
  }

 private:
  void sleep() {
    auto& sleepers = hocket::detail::sleepers_near(this);
    if constexpr (Left == without::count_first) {
      if (word_.exchange(1, acquire) == 0) return;
      sleepers.fetch_add(1, std::memory_order_relaxed);
      hocket::futex_wait(word_, 1);
    } else {
      sleepers.fetch_add(1, std::memory_order_relaxed);
      if constexpr (Left != without::heavy_half) hocket::heavy_fence();
    }
    while (word_.exchange(1, acquire) != 0) hocket::futex_wait(word_, 1);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  atomic<std::uint32_t> word_{0};
};

// It counts its sleepers itself, so that unlock() reads it after the store that lets others destroy it.
class counting_inside {
 public:
  void lock() {
    std::uint32_t seen = 0;
    if (word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, std::memory_order_relaxed)) return;
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    hocket::heavy_fence();
    while (word_.exchange(1, std::memory_order_acquire) != 0) hocket::futex_wait(word_, 1);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  void unlock() {
    word_.store(0, std::memory_order_release);
    hocket::light_fence();
    if (sleepers_.load(std::memory_order_relaxed) != 0) hocket::futex_wake_one(word_);
  }

 private:
  atomic<std::uint32_t> word_{0};
  atomic<std::uint32_t> sleepers_{0};
};

constexpr model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 1};
constexpr model::options two{.preemptions = 6, .stale_reads = 4, .spurious = 1};

}  // namespace

TEST_CASE("threads exclude each other, and none sleeps for ever") {
  verdict::none(bounds, all_count<thread_mutex, 2>);
  verdict::none(two, all_count<weakened<without::nothing>, 2>);
  verdict::none(bounds, all_count<weakened<without::nothing>, 3>);
}

TEST_CASE("who holds it last may destroy it") {
  verdict::none(bounds, last_one_destroys<thread_mutex>);
  verdict::none(two, last_one_destroys<weakened<without::nothing>>);
  verdict::found(bug::data_race, two, last_one_destroys<counting_inside>);
}

TEST_CASE("a mutex without one of its steps fails") {
  SUBCASE("the sleeper's half of the fence") {
    verdict::found(bug::lost_wakeup, two, all_count<weakened<without::heavy_half>, 2>);
  }
  SUBCASE("the other half") { verdict::found(bug::lost_wakeup, two, all_count<weakened<without::light_half>, 2>); }
  SUBCASE("to count before the look") {
    verdict::found(bug::lost_wakeup, two, all_count<weakened<without::count_first>, 2>);
  }
  SUBCASE("to look at the count after the store") {
    verdict::found(bug::lost_wakeup, two, all_count<weakened<without::look_again>, 2>);
  }
  SUBCASE("release") { verdict::found(bug::data_race, two, all_count<weakened<without::release>, 2>); }
  SUBCASE("acquire") { verdict::found(bug::data_race, two, all_count<weakened<without::acquire>, 2>); }
}
