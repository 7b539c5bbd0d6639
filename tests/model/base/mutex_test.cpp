// The threads' mutex under every schedule: the library's own file, found by another path than the stand-in that the
// other models use. Under the model a thread does not look for a while before it sleeps.
#include <base/seam/mutex.hpp>

#include <optional>

#include "verdict.hpp"

namespace {

using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket::primitive::thread_mutex;
namespace model = hocket::model;

// The table of one execution: all of its mutexes share a count. `others`: so many sleep for another mutex meanwhile.
struct table {
  explicit table(std::uint32_t others = 0) : sleepers(others, "sleepers") {
    hocket::detail::counted_sleepers = &sleepers;
  }
  atomic<std::uint32_t> sleepers;
};

// Each of them counts, so often, under the mutex.
template <class Mutex, int Threads, int Rounds = 1, std::uint32_t Others = 0>
void all_count(execution& run) {
  table sleep{Others};
  Mutex mutex;
  var<int> count{0, "count"};
  for (int i = 0; i < Threads; ++i) {
    run.thread("counter", [&] {
      for (int round = 0; round < Rounds; ++round) {
        mutex.lock();
        count = count + 1;
        mutex.unlock();
      }
    });
  }
  run.join();
  require(count == Threads * Rounds, "somebody's count was lost");
  require(sleep.sleepers.load(std::memory_order_relaxed) == Others, "who has the mutex is counted as a sleeper");
}

// Two threads for each of two mutexes that share a count.
template <class Mutex>
void neighbours(execution& run) {
  table sleep;
  Mutex mutex[2];
  var<int> count[2] = {{0, "count"}, {0, "other count"}};
  for (int i = 0; i < 4; ++i) {
    run.thread("counter", [&, which = i % 2] {
      mutex[which].lock();
      count[which] = count[which] + 1;
      mutex[which].unlock();
    });
  }
  run.join();
  require(count[0] == 2 && count[1] == 2, "somebody's count was lost");
}

// Two count twice; a third one looks whether the mutex is free, as a thread does before it sleeps.
void one_tries(execution& run) {
  table sleep;
  thread_mutex mutex;
  var<int> count{0, "count"};
  for (bool tries : {false, false, true}) {
    run.thread(tries ? "trier" : "counter", [&, tries] {
      for (int round = 0; round < 2; ++round) {
        if (tries && !mutex.try_lock()) continue;
        if (!tries) mutex.lock();
        count = count + 1;
        mutex.unlock();
      }
    });
  }
  run.join();
}

// The last one who holds the mutex destroys it.
template <class Mutex>
void last_one_destroys(execution& run) {
  table sleep;
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

// What may be left out of the protocol, one by one.
enum class without {
  heavy_half,
  light_half,
  look_behind_store,
  clearing_mark,
  early_count,
  release,
  mark_release,
  acquire,
  sleepers_acquire
};

template <without Left>
class weakened {
  static constexpr auto order(without this_one, std::memory_order needed) {
    return Left == this_one ? std::memory_order_relaxed : needed;
  }
  static constexpr auto acquire = order(without::acquire, std::memory_order_acquire);
  static constexpr auto sleepers_acquire = order(without::sleepers_acquire, std::memory_order_acquire);
  static constexpr auto release = order(without::release, std::memory_order_release);
  static constexpr auto mark_release = order(without::mark_release, std::memory_order_release);

 public:
  void lock() {
    std::uint32_t seen = 0;
    if (!word_.compare_exchange_strong(seen, 1, acquire, std::memory_order_relaxed)) sleep();
  }
  void unlock() {
    auto& sleepers = hocket::detail::sleepers_near(this);
    if (sleepers.load(std::memory_order_relaxed) != 0) return unlock_beside_sleepers();
    word_.store(0, release);
    if constexpr (Left == without::look_behind_store) return;
    if constexpr (Left != without::light_half) hocket::detail::light_fence();
    if (sleepers.load(std::memory_order_relaxed) != 0) hocket::detail::futex_wake_one(word_);
  }

 private:
  void sleep() {
    auto& sleepers = hocket::detail::sleepers_near(this);
    sleepers.fetch_add(1, std::memory_order_relaxed);
    if constexpr (Left != without::heavy_half) hocket::detail::heavy_fence();
    if constexpr (Left == without::early_count) sleepers.fetch_sub(1, std::memory_order_relaxed);
    if constexpr (Left == without::clearing_mark) {
      std::uint32_t seen = 0;
      while (((seen = word_.fetch_or(1, sleepers_acquire)) & 1) != 0) hocket::detail::futex_wait(word_, seen);
    } else {
      while ((word_.exchange(1, sleepers_acquire) & 1) != 0) hocket::detail::futex_wait(word_, 1);
    }
    if constexpr (Left != without::early_count) sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  void unlock_beside_sleepers() {
    std::uint32_t seen = 3;
    if (word_.compare_exchange_strong(seen, 2, mark_release, std::memory_order_relaxed)) return;
    word_.store(2, mark_release);
    hocket::detail::futex_wake_one(word_);
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
    hocket::detail::heavy_fence();
    while (word_.exchange(1, std::memory_order_acquire) != 0) hocket::detail::futex_wait(word_, 1);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  void unlock() {
    word_.store(0, std::memory_order_release);
    hocket::detail::light_fence();
    if (sleepers_.load(std::memory_order_relaxed) != 0) hocket::detail::futex_wake_one(word_);
  }

 private:
  atomic<std::uint32_t> word_{0};
  atomic<std::uint32_t> sleepers_{0};
};

constexpr model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 1};
constexpr model::options narrow{.preemptions = 2, .stale_reads = 1, .spurious = 0};

template <without Left>
void fails(bug how) {
  verdict::found(how, bounds, all_count<weakened<Left>, 3, 2>);
}

}  // namespace

TEST_CASE("threads exclude each other, and none sleeps for ever") {
  verdict::none(bounds, all_count<thread_mutex, 2, 2>);
  verdict::none(bounds, all_count<thread_mutex, 3>);
  verdict::none(narrow, all_count<thread_mutex, 3, 2>);
  verdict::none(bounds, one_tries);
}

TEST_CASE("sleepers of another mutex with the same count disturb nobody") {
  verdict::none(bounds, all_count<thread_mutex, 2, 2, 1>);
  verdict::none(narrow, neighbours<thread_mutex>);
}

TEST_CASE("who holds it last may destroy it") {
  verdict::none(bounds, last_one_destroys<thread_mutex>);
  verdict::found(bug::data_race, bounds, last_one_destroys<counting_inside>);
}

TEST_CASE("every ordering is needed") { CHECK(model::unneeded_orderings(narrow, one_tries) == ""); }

TEST_CASE("a mutex without one of its steps fails") {
  SUBCASE("the sleeper's half of the fence") { fails<without::heavy_half>(bug::lost_wakeup); }
  SUBCASE("the other half") { fails<without::light_half>(bug::lost_wakeup); }
  SUBCASE("the look at the count behind the store") { fails<without::look_behind_store>(bug::lost_wakeup); }
  SUBCASE("a sleeper clears the mark of a wake") { fails<without::clearing_mark>(bug::lost_wakeup); }
  SUBCASE("who sleeps is counted until it has the mutex") { fails<without::early_count>(bug::lost_wakeup); }
  SUBCASE("release") { fails<without::release>(bug::data_race); }
  SUBCASE("release beside sleepers") { fails<without::mark_release>(bug::data_race); }
  SUBCASE("acquire") { fails<without::acquire>(bug::data_race); }
  SUBCASE("acquire by who slept") { fails<without::sleepers_acquire>(bug::data_race); }
}
