// Stop sources that are linked late, under every schedule: what is requested above reaches whoever attaches himself,
// however late; and after the end of the coroutine nobody goes up any more.
#include <hocket/core/context/seam/stop_link.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

namespace {

using hocket::stop_level;
using hocket::stop_source;
using hocket::detail::late_stop_source;
using hocket::detail::min_stop_level;
using hocket::detail::stop_node;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket_test::kept;
namespace model = hocket::model;

// A wait that only a stop ends.
class a_wait : stop_node {
 public:
  a_wait() noexcept {
    fire = [](stop_node& self, stop_level how) noexcept { static_cast<a_wait&>(self).heard(how); };
  }
  // What ended it.
  template <class Source>
  stop_level on(Source& source, min_stop_level weakest = min_stop_level::cancel) {
    const stop_level missed = source.attach(*this, weakest);
    if (missed != stop_level::none) return missed;
    while (strength_.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(strength_, 0);
    return stop_level(strength_.load(std::memory_order_relaxed));
  }

 private:
  void heard(stop_level how) {
    strength_.store(std::uint32_t(how), std::memory_order_release);
    hocket::detail::futex_wake_all(strength_);
  }
  atomic<std::uint32_t> strength_{0, "level"};
};

// What a coroutine has of stops until its end; its parent may be gone then.
struct coroutine {
  kept<stop_source> parent;
  kept<late_stop_source> own{&*parent};

  void end() {
    own->leave();
    parent.free();
  }
};

void waits_beside_a_request(execution& run) {
  coroutine one;
  var<int> reason{0, "reason"};
  run.thread("coroutine", [&] {
    require(a_wait().on(*one.own) == stop_level::cancel);
    require(reason == 1, "what led to the request is visible below");
  });
  run.thread("stops", [&] {
    reason = 1;
    require(one.parent->request());
  });
  run.join();
  one.end();
  one.own.free();
}

// A cancel and a time-out meet: the first one decides what the coroutine is told, above and below.
void times_out_beside_a_cancel(execution& run) {
  coroutine one;
  bool cancelled = false, timed_out = false;
  run.thread("coroutine", [&] {
    require(a_wait().on(*one.own) == stop_level::cancel);
    require(one.own->timed_out() == one.parent->timed_out(), "a link hands on another reason");
  });
  run.thread("cancels", [&] { cancelled = one.parent->request(); });
  run.thread("times out", [&] { timed_out = one.parent->request_time_out(); });
  run.join();
  require(cancelled != timed_out, "two first requests");
  require(one.parent->timed_out() == timed_out, "the second request changes the reason");
  one.end();
  one.own.free();
}

// Its handle times it out, before or after it is linked.
void timed_out_here(execution& run) {
  coroutine one;
  run.thread("coroutine", [&] {
    require(a_wait().on(*one.own) == stop_level::cancel);
    require(one.own->timed_out(), "a time-out is taken for a cancel");
  });
  run.thread("times out", [&] { require(one.own->request_time_out()); });
  run.join();
  require(!one.parent->timed_out());
  one.end();
  one.own.free();
}

// It never waits, and ends beside the request.
void asks_beside_a_request(execution& run) {
  kept<stop_source> parent;
  kept<late_stop_source> own(&*parent);
  var<int> reason{0, "reason"};
  run.thread("coroutine", [&] {
    if (own->killed_so_far() || own->requested() != stop_level::none) require(reason == 1);
    own->leave();
    own.free();
  });
  run.thread("stops", [&] {
    reason = 1;
    require(parent->request(stop_level::kill));
  });
  run.join();
  parent.free();
}

// Two parts of one coroutine, on two threads, wait first at the same time.
void two_parts_wait(execution& run) {
  coroutine one;
  run.thread("a part", [&] { require(a_wait().on(*one.own) == stop_level::cancel); });
  run.thread("a fork", [&] { require(a_wait().on(*one.own) == stop_level::cancel); });
  run.thread("stops", [&] { require(one.parent->request()); });
  run.join();
  one.end();
  one.own.free();
}

// A cancellation by the handle, before there is a link, does not keep the kill from above away.
void cancelled_here_killed_above(execution& run) {
  coroutine one;
  run.thread("coroutine", [&] {
    require(a_wait().on(*one.own) >= stop_level::cancel);
    require(a_wait().on(*one.own, min_stop_level::kill) == stop_level::kill);
  });
  run.thread("cancels", [&] { one.own->request(); });
  run.thread("kills", [&] { require(one.parent->request(stop_level::kill)); });
  run.join();
  one.end();
  one.own.free();
}

// The handle may ask at any time. The parent is gone after the end.
template <stop_level level>
void asked_at_its_end(execution& run) {
  coroutine one;
  run.thread("coroutine", [&] { one.end(); });
  run.thread("handle", [&] { one.own->request(level); });
  run.join();
  const stop_level told = one.own->requested();
  require(told == stop_level::none || told == level);
  one.own.free();
}

// Another thread that keeps the source looks whether something was requested, beside the end, after which the parent is
// gone: either it is linked in time, and the end waits for that, or not any more.
void looked_at_beside_its_end(execution& run) {
  coroutine one;
  run.thread("coroutine", [&] { one.end(); });
  run.thread("looks", [&] { require(one.own->requested() == stop_level::none); });
  run.join();
  one.own.free();
}

// Looks at the parent once, and is not linked to it.
class forgetful : public stop_source {
 public:
  explicit forgetful(stop_source* above) noexcept : above_(*above) {}
  stop_level attach(stop_node& node, min_stop_level weakest = min_stop_level::cancel) {
    if (const stop_level told = above_.requested(); told > strongest_ignored(weakest)) return told;
    return stop_source::attach(node, weakest);
  }
  void leave() noexcept {}

 private:
  stop_source& above_;
};

void forgetful_beside_a_request(execution& run) {
  kept<stop_source> parent;
  kept<forgetful> own(&*parent);
  run.thread("coroutine", [&] { require(a_wait().on(*own) == stop_level::cancel); });
  run.thread("stops", [&] { parent->request(); });
  run.join();
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 1, .spurious = 1};
constexpr model::options narrow{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("who waits first while the source above is stopped hears of it") {
  ::verdict::none(bounds, waits_beside_a_request);
}

TEST_CASE("the reason of a cancellation is the first one, and comes with the cancellation") {
  ::verdict::none(narrow, times_out_beside_a_cancel);
  ::verdict::none(bounds, timed_out_here);
}

TEST_CASE("a coroutine that never waits may end while the source above is stopped") {
  ::verdict::none(bounds, asks_beside_a_request);
}

TEST_CASE("two parts of a coroutine may wait first at once") { ::verdict::none(narrow, two_parts_wait); }

TEST_CASE("a cancellation by the handle leaves the kill from above a way") {
  ::verdict::none(narrow, cancelled_here_killed_above);
}

TEST_CASE("a request at the end of the coroutine does not lead to what was above it") {
  ::verdict::none(bounds, asked_at_its_end<hocket::stop_level::cancel>);
  ::verdict::none(bounds, asked_at_its_end<hocket::stop_level::kill>);
}

TEST_CASE("a look by another thread beside the end of the coroutine does not lead to what was above it") {
  ::verdict::none(bounds, looked_at_beside_its_end);
}

TEST_CASE("a source that looks at the one above but is not linked to it misses a request") {
  auto result = model::explore(bounds, forgetful_beside_a_request);
  INFO(result.text());
  CHECK(result.kind == bug::lost_wakeup);
}
