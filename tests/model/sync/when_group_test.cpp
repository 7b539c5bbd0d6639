// A group of awaitables (coro/detail/when_group.hpp) under every schedule. Its children end on several threads.
//
// - The group is decided once: by the k-th child that ends, the first that fails, or a request from outside. What
//   decides it ends the others.
// - The last of the children and the parent grants the parent's wait, once. Then the parent sees the results of all
//   children, and may destroy the group at once.
// - A group of one takes one of two results that are ready at the same time. The other result stays where it is.
//
// In the first bodies the children are threads, and call wants() and ended() like a when_child. The other bodies use
// real children of when_all and when_some: each thread posts coroutines, and resumes them afterwards.
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/coro/when_some.hpp>
#include <hocket/sync/event.hpp>

#include "sync/waits.hpp"

#include <vector>

namespace {

using hocket::event;
using hocket::outcome_kind;
using hocket::stop_source;
using hocket::detail::when_frame;
using hocket::detail::when_group;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
using hocket_test::place;
using hocket_test::wait_at;
using ::verdict::unneeded_in;
namespace model = hocket::model;

// --- children that are threads

class family final : public when_group {
 public:
  explicit family(std::size_t enough) : when_group(enough, {}) {}

  bool begin(std::size_t children) {
    return suspend({}, children, [](when_group& self) noexcept {
      static_cast<family&>(self).begun_.store(true, std::memory_order_release);
    });
  }
  void await_begin() const {
    while (!begun_.load(std::memory_order_acquire)) model::pause();
  }
  using when_group::finish;
  using when_group::first_failure;

 private:
  hocket::primitive::atomic<bool> begun_{false, "begun"};
};

struct child {
  when_frame frame{nullptr};
  bool wanted = false;  // what wants() has said
  var<int> left{0, "left by a child"};
};

template <std::size_t Children>
struct stage {
  place where;
  kept<family> group;
  child children[Children];

  explicit stage(std::size_t enough, stop_source* above = nullptr) : where(above), group(enough) {}

  void end(std::size_t i, outcome_kind how) {
    group->await_begin();
    child& one = children[i];
    one.wanted = group->wants(one.frame);
    one.left = 1;
    group->ended(one.frame, how);
  }
  // By the decision of the group alone.
  void end_when_decided(std::size_t i) {
    group->await_begin();
    while (!group->decided()) model::pause();
    end(i, outcome_kind::cancelled);
  }
  // The parent. `look` is what it does with the group before it destroys that.
  template <class F>
  void wait(F look) {
    where.enter();
    if (group->begin(Children)) where.sleep();
    else where.expect_no_post();
    group->finish();
    for (child& one : children) require(one.left == 1, "the parent went on before a child had ended");
    look();
    group.free();
    where.expect_sane();
  }
};

void all_of_two(execution& run) {
  stage<2> on(when_group::never);
  run.thread("first", [&] { on.end(0, outcome_kind::value); });
  run.thread("second", [&] { on.end(1, outcome_kind::value); });
  run.thread("parent", [&] { on.wait([&] { require(!on.group->decided(), "nothing decides it"); }); });
  run.join();
}

void one_of_two(execution& run) {
  stage<2> on(1);
  run.thread("first", [&] { on.end(0, outcome_kind::value); });
  run.thread("second", [&] { on.end(1, outcome_kind::value); });
  run.thread("parent", [&] {
    on.wait([&] {
      const auto& [first, second] = on.children;
      require(first.wanted != second.wanted, "one result is taken");
      require(on.group->decided());
    });
  });
  run.join();
}

void two_of_two(execution& run) {
  stage<2> on(2);
  run.thread("first", [&] { on.end(0, outcome_kind::value); });
  run.thread("second", [&] { on.end(1, outcome_kind::value); });
  run.thread("parent", [&] {
    on.wait([&] {
      const auto& [first, second] = on.children;
      require(first.frame.rank + second.frame.rank == 1, "two children have one place");
      require(on.group->decided());
    });
  });
  run.join();
}

void two_fail(execution& run) {
  stage<2> on(when_group::at_failure);
  run.thread("first", [&] { on.end(0, outcome_kind::error); });
  run.thread("second", [&] { on.end(1, outcome_kind::exception); });
  run.thread("parent", [&] {
    on.wait([&] {
      const when_frame* const failed = on.group->first_failure();
      const auto& [first, second] = on.children;
      require(failed == &first.frame || failed == &second.frame);
      require(first.wanted || failed == &second.frame, "a later failure counts");
      require(second.wanted || failed == &first.frame, "a later failure counts");
      require(on.group->decided());
    });
  });
  run.join();
}

// A child that has ended by itself, one that the request ends.
void stopped_from_outside(execution& run) {
  kept<stop_source> stop;
  stage<2> on(when_group::never, &*stop);
  run.thread("requests", [&] { stop->request(); });
  run.thread("child", [&] {
    on.end(0, outcome_kind::value);
    on.end_when_decided(1);
  });
  run.thread("parent", [&] { on.wait([] {}); });
  run.join();
  stop.free();
}

// --- children of when_all and when_some

// The executor of the parent and the children. What a thread posts it resumes itself, in drain().
class hands final : public hocket::executor {
 public:
  explicit hands(stop_source* above = nullptr) : parent_(above) {}

  void post_from_outside(hocket::detail::runnable& work) noexcept override {
    if (!work.handle) return parent_.post_from_outside(work);
    posted_[model::thread_index()].push_back(&work);
  }
  void drain() {
    auto& mine = posted_[model::thread_index()];
    while (!mine.empty()) {
      hocket::detail::runnable* const work = mine.back();
      mine.pop_back();
      hocket::detail::running_scope here({this}, nullptr);
      work->handle.resume();
    }
  }

  // What the parent is given by the awaiter of a group.
  template <class Awaiter>
  auto wait_for(Awaiter& group) {
    parent_.enter();
    hocket::detail::this_thread().binding.running_on = this;
    const bool suspends = group.await_suspend({});
    drain();
    if (suspends) parent_.sleep();
    else parent_.expect_no_post();
    parent_.expect_sane();
    return group.await_resume();
  }

 private:
  place parent_;
  std::vector<hocket::detail::runnable*> posted_[4];  // of each thread
};

// The awaiter, where it may be destroyed at once.
template <class Group>
struct waiting_for {
  explicit waiting_for(Group&& group) : awaiter(std::move(group).operator co_await()) {}
  decltype(std::declval<Group>().operator co_await()) awaiter;
};

void begun_beside_the_end(execution& run) {
  hands at;
  event first, second;
  run.thread("first", [&] {
    first.set();
    at.drain();
  });
  run.thread("second", [&] {
    second.set();
    at.drain();
  });
  run.thread("parent", [&] {
    kept<waiting_for<decltype(when_all(first.wait(), second.wait()))>> group(when_all(first.wait(), second.wait()));
    require(at.wait_for(group->awaiter).has_value());
    group.free();
  });
  run.join();
}

void one_value_stays(execution& run) {
  hands at;
  place alone;
  auto [to_first, first] = hocket::make_oneshot<int>();
  auto [to_second, second] = hocket::make_oneshot<int>();
  run.thread("first", [&] {
    to_first.send(1);
    at.drain();
  });
  run.thread("second", [&] {
    to_second.send(2);
    at.drain();
  });
  run.thread("parent", [&] {
    kept<waiting_for<decltype(when_some(1, first.receive(), second.receive()))>> group(
        when_some(1, first.receive(), second.receive()));
    auto ended = at.wait_for(group->awaiter);
    group.free();
    require(ended.size() == 1 && *ended[0].value == static_cast<int>(ended[0].index) + 1);
    auto& other = ended[0].index == 0 ? second : first;
    auto left = wait_at(alone, other.receive());
    require(left.has_value(), "a result was taken that the group does not want");
  });
  run.join();
}

// The request comes before a child has begun, while it waits, or when it has ended.
void children_stopped_from_outside(execution& run) {
  kept<stop_source> stop;
  hands at(&*stop);
  event first, never;
  run.thread("requests", [&] {
    stop->request();
    at.drain();
  });
  run.thread("first", [&] {
    first.set();
    at.drain();
  });
  run.thread("parent", [&] {
    kept<waiting_for<decltype(when_all(first.wait(), never.wait()))>> group(when_all(first.wait(), never.wait()));
    require(at.wait_for(group->awaiter).error() == std::errc::operation_canceled);
    group.free();
  });
  run.join();
  stop.free();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
// For the last bodies: schedules alone, since other tests prove the waits and stops.
constexpr model::options schedules{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("a parent goes on once, when all children have ended, and may destroy the group at once") {
  ::verdict::none(bounds, all_of_two);
  ::verdict::none(schedules, begun_beside_the_end);
}

TEST_CASE("a group of one takes one of two results that come at the same time, and leaves the other") {
  ::verdict::none(bounds, one_of_two);
  ::verdict::none(schedules, one_value_stays);
}

TEST_CASE("two children that end at the same time decide a group of two") { ::verdict::none(bounds, two_of_two); }

TEST_CASE("the first of two children that fail at the same time decides the group") {
  ::verdict::none(bounds, two_fail);
}

TEST_CASE("a request from outside ends the children, and the parent goes on after them") {
  ::verdict::none(bounds, stopped_from_outside);
  ::verdict::none(schedules, children_stopped_from_outside);
}

TEST_CASE("every ordering of a group is needed") {
  const auto unneeded =
      model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0}, all_of_two, one_of_two);
  CHECK(unneeded_in("when_group.cpp", unneeded) == "");
  CHECK(unneeded_in("when_group.hpp", unneeded) == "");
}
