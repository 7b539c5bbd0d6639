// What other threads post to a pool, under every schedule: each worker that takes finds whole what it gets, everything
// is taken once, and in its order. And the stack with a mistake in it.
#include "runtime/injection.hpp"
#include "verdict.hpp"

#include <string>

namespace {

using hocket::detail::injection;
using hocket::detail::runnable;
using hocket::detail::runnables;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
namespace model = hocket::model;

struct work : runnable {
  work() noexcept { handle = std::noop_coroutine(); }
  var<int> payload{0, "payload"};
  var<int> taken{0, "taken"};
};

// Takes a batch and checks that each item is whole. Returns the last one.
template <class Injection>
runnable* take(Injection& line) {
  runnable* last = nullptr;
  line.take([&](runnable& one) {
    auto& item = static_cast<work&>(one);
    require(item.payload == 1, "it was taken before it was made");
    item.taken = item.taken + 1;
    if (Injection::keeps_order && last) require(last < &one, "the first one posted does not come first");
    last = &one;
  });
  return last;
}

template <std::size_t Count>
void expect_each_taken_once(work (&items)[Count]) {
  for (auto& item : items) require(item.taken == 1, "one was taken twice, or not at all");
}

struct ordered_injection : injection {
  static constexpr bool keeps_order = true;
};
struct shared_injection : injection {  // by several threads, in any order
  static constexpr bool keeps_order = false;
};

// The mistake: an item that arrives between the load and the store is lost.
class hasty_injection {
 public:
  static constexpr bool keeps_order = false;

  void post(runnable& work) noexcept {
    runnable* seen = top_.load();
    do work.next = seen;
    while (!top_.compare_exchange_weak(seen, &work));
  }
  template <class Use>
  void take(Use use) {
    runnable* const all = top_.load();
    top_.store(nullptr);
    for (runnable* work = all; work;) {
      runnable* const next = work->next;
      use(*work);
      work = next;
    }
  }

 private:
  atomic<runnable*> top_{nullptr};
};

template <class Injection>
void two_post_and_two_take(execution& run) {
  Injection line;
  work items[2];
  for (auto& item : items) {
    run.thread("poster", [&] {
      item.payload = 1;
      line.post(item);
    });
  }
  for (int i = 0; i < 2; ++i) {
    run.thread("worker", [&] { take(line); });
  }
  run.join();
  take(line);
  expect_each_taken_once(items);
}

// One by one, then several, then one more, beside a worker.
void one_posts_more_and_more(execution& run) {
  ordered_injection line;
  work items[4];
  run.thread("poster", [&] {
    for (auto& item : items) item.payload = 1;
    line.post(items[0]);
    runnable* const both[] = {&items[1], &items[2]};
    line.post_all({both, 2});
    line.post(items[3]);
  });
  run.thread("worker", [&] {
    const runnable* const last = take(line);
    require(last != &items[1], "several that were posted at once came apart");
  });
  run.join();
  take(line);
  expect_each_taken_once(items);
}

// Several at once beside another one.
void several_beside_one(execution& run) {
  shared_injection line;
  work items[3];
  run.thread("poster of two", [&] {
    for (int i : {0, 1}) items[i].payload = 1;
    runnable* const both[] = {&items[0], &items[1]};
    line.post_all({both, 2});
  });
  run.thread("poster", [&] {
    items[2].payload = 1;
    line.post(items[2]);
  });
  run.thread("worker", [&] { take(line); });
  run.join();
  take(line);
  expect_each_taken_once(items);
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 1, .spurious = 1};
constexpr model::options narrow{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_SUITE_BEGIN("model/runtime/injection");

TEST_CASE("what is posted from outside is taken once, and whole") {
  verdict::none(bounds, &two_post_and_two_take<shared_injection>);
  verdict::none(bounds, &several_beside_one);
}

TEST_CASE("what one thread posts, alone and several at once, is taken in its order, and together what came together") {
  verdict::none(bounds, &one_posts_more_and_more);
}

// That the push is seq_cst is for the pool (worker_core_test.cpp).
TEST_CASE("every ordering of the stack is needed") {
  for (auto body : {&two_post_and_two_take<shared_injection>, &several_beside_one, &one_posts_more_and_more}) {
    const std::string unneeded = model::unneeded_orderings(narrow, body);
    CAPTURE(unneeded);
    const bool only_that =
        unneeded.find("seq_cst could be acq_rel") != std::string::npos && unneeded.find('\n') == unneeded.rfind('\n');
    CHECK((unneeded.empty() || only_that));
  }
}

TEST_CASE("a worker that looks, and then empties the stack, takes what another one has, or loses what comes between") {
  const auto result = model::explore(bounds, &two_post_and_two_take<hasty_injection>);
  INFO(result.text());
  CHECK((result.kind == bug::data_race || result.kind == bug::assertion));
}

TEST_SUITE_END();
