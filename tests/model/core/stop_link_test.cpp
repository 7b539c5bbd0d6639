// Links between stop sources under every schedule: a request reaches every linked source, whenever it is linked. After
// the destruction of a link no thread still touches the child.
#include <hocket/core/context/seam/stop_link.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

#include <string>

namespace {

using hocket::stop_level;
using hocket::stop_source;
using hocket::detail::stop_link;
using hocket::detail::stop_node;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket_test::kept;
namespace model = hocket::model;

// The levels that have reached a node which attaches itself again, as the waits of one coroutine do.
struct listener : stop_node {
  explicit listener(stop_source& at) noexcept : source(at) {
    fire = [](stop_node& self, stop_level how) noexcept { static_cast<listener&>(self).heard(how); };
  }
  void listen() {
    auto so_far = stop_level(level.load(std::memory_order_relaxed));
    if (so_far == stop_level::kill) return;
    stop_level missed = source.attach(*this, hocket::detail::min_stop_level(so_far));
    if (missed != stop_level::none) heard(missed);
  }
  void heard(stop_level how) {
    level.store(std::uint32_t(how), std::memory_order_release);
    hocket::detail::futex_wake_all(level);
  }
  void wait_for(stop_level how) {
    auto enough = [&](std::uint32_t seen) { return stop_level(seen) >= how; };
    for (auto seen = level.load(std::memory_order_acquire); !enough(seen);) {
      hocket::detail::futex_wait(level, seen);
      seen = level.load(std::memory_order_acquire);
    }
  }
  stop_source& source;
  atomic<std::uint32_t> level{0, "level"};
};

// A child that is linked while its parent is stopped always hears of it.
void linked_beside_a_request(execution& run) {
  stop_source parent;
  run.thread("child", [&] {
    stop_source child;
    listener ear(child);
    ear.listen();
    stop_link link(parent, child);
    ear.wait_for(stop_level::cancel);
  });
  run.thread("stops", [&] { parent.request(); });
  run.join();
}

// The link and the child die in the middle of it, or before, or after.
template <class Link>
void unlinked_beside_a_request(execution& run) {
  stop_source parent;
  kept<stop_source> child;
  kept<Link> link(parent, *child);
  run.thread("child", [&] {
    link.free();
    child.free();
  });
  run.thread("stops", [&] { parent.request(); });
  run.join();
}

template <class Link>
void unlinked_beside_two(execution& run) {
  stop_source parent;
  kept<stop_source> child;
  kept<Link> link(parent, *child);
  run.thread("child", [&] {
    link.free();
    child.free();
  });
  run.thread("cancels", [&] { parent.request(); });
  run.thread("kills", [&] { require(parent.request(stop_level::kill)); });
  run.join();
}

// The link stays after the cancellation, for the kill.
void cancelled_then_killed(execution& run) {
  stop_source parent;
  run.thread("child", [&] {
    stop_source child;
    listener ear(child);
    stop_link link(parent, child);
    for (stop_level how : {stop_level::cancel, stop_level::kill}) {
      ear.listen();
      ear.wait_for(how);
    }
  });
  run.thread("stops", [&] {
    require(parent.request());
    require(parent.request(stop_level::kill));
  });
  run.join();
}

// Three sources, one below the other. The last and the middle one are destroyed while a request arrives from above.
void a_chain(execution& run) {
  stop_source top;
  kept<stop_source> middle, last;
  kept<stop_link> upper(top, *middle), lower(*middle, *last);
  var<int> reason{0, "reason"};
  run.thread("ends", [&] {
    if (last->requested() != stop_level::none) require(reason == 1, "what led to the request is visible below");
    lower.free();
    last.free();
    upper.free();
    middle.free();
  });
  run.thread("stops", [&] {
    reason = 1;
    top.request();
  });
  run.join();
}

// Both ends of a chain are requested; the second request finds the child already stopped.
void from_both_ends(execution& run) {
  stop_source parent, child;
  {
    stop_link link(parent, child);
    run.thread("stops all", [&] { require(parent.request()); });
    run.thread("stops the child", [&] { child.request(); });
    run.join();
  }
  require(child.requested() == stop_level::cancel);
}

// Does not count its borrowers: it leaves when no thread can find it any more, which is too early.
class hasty_link : stop_node {
 public:
  hasty_link(stop_source& parent, stop_source& child) noexcept : parent_(parent), child_(child) {
    fire = [](stop_node& self, stop_level how) noexcept { static_cast<hasty_link&>(self).child_.request(how); };
    if (parent.attach(*this) != stop_level::none) child.request();
  }
  ~hasty_link() { (void)parent_.detach(*this); }

 private:
  stop_source& parent_;
  stop_source& child_;
};

constexpr model::options bounds{.preemptions = 3, .stale_reads = 1, .spurious = 1};
constexpr model::options narrow{.preemptions = 2, .stale_reads = 1, .spurious = 1};

}  // namespace

TEST_CASE("a child that is linked beside a request hears of it") { ::verdict::none(bounds, linked_beside_a_request); }

TEST_CASE("after the end of a link nobody comes to its child") {
  ::verdict::none(bounds, unlinked_beside_a_request<stop_link>);
  ::verdict::none({.preemptions = 2, .stale_reads = 0, .spurious = 1}, unlinked_beside_two<stop_link>);
}

TEST_CASE("a link that was used by a cancellation is still there for the kill") {
  ::verdict::none(narrow, cancelled_then_killed);
}

TEST_CASE("a chain of sources may end from below while a request comes from above") {
  ::verdict::none(narrow, a_chain);
}

TEST_CASE("a child may be stopped from above and by itself at once") { ::verdict::none(bounds, from_both_ends); }

TEST_CASE("every ordering of a link is needed") {
  auto unneeded = model::unneeded_orderings(narrow, unlinked_beside_a_request<stop_link>);
  INFO(unneeded);
  CHECK(unneeded.find("stop_link.cpp") == std::string::npos);
}

TEST_CASE("a link that does not wait for who has borrowed it leads to a child that is gone") {
  auto result = model::explore(bounds, unlinked_beside_a_request<hasty_link>);
  INFO(result.text());
  CHECK((result.kind == bug::use_after_destroy || result.kind == bug::data_race));
}
