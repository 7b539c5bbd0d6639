// A stop source under every schedule: each attached node is fired once or taken back, never both, and a node whose
// owner has it back is not touched any more.
#include <hocket/core/stop.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

namespace {

using hocket::atomic;
using hocket::list;
using hocket::locked;
using hocket::stop_node;
using hocket::stop_source;
using hocket::thread_mutex;
using hocket::verdict;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
namespace model = hocket::model;

// A node that dies as soon as its owner may free it: when it is detached, or when its fire() has let go.
struct mortal : stop_node {
  var<int> life{0, "life"};
  atomic<std::uint32_t> let_go{0, "let_go"};
  verdict strength = verdict::idle;

  mortal() noexcept {
    fire = [](stop_node& self, verdict how) noexcept {
      auto& it = static_cast<mortal&>(self);
      it.life = 1;
      it.strength = how;
      it.let_go.store(1, std::memory_order_release);
      hocket::futex_wake_one(it.let_go);
    };
  }
  void wait() {
    while (let_go.load(std::memory_order_acquire) == 0) hocket::futex_wait(let_go, 0);
  }
};

// An operation that somebody may stop: `done` says that it ended by itself and takes its node back.
template <class Source>
void operate(Source& stop, bool ends_by_itself) {
  kept<mortal> node;
  if (stop.attach(*node) == verdict::idle && !(ends_by_itself && stop.detach(*node))) {
    node->wait();
    require(node->strength == verdict::cancelled || node->strength == verdict::killed);
  }
  node.free();
}

template <class Source>
void two_wait_one_stops(execution& run) {
  kept<Source> stop;
  run.thread("ends by itself", [&] { operate(*stop, true); });
  run.thread("waits", [&] { operate(*stop, false); });
  run.thread("stops", [&] { require(stop->request()); });
  run.join();
  stop.free();
}

void cancelled_and_killed(execution& run) {
  stop_source stop;
  int accepted = 0;
  run.thread("waits", [&] { operate(stop, false); });
  run.thread("cancels", [&] { accepted += stop.request(); });
  run.thread("kills", [&] { require(stop.request(verdict::killed)); });
  run.join();
  require(stop.requested() == verdict::killed);
  require(accepted <= 1);
}

// What led to a request is visible to whoever learns of it from attach() or requested().
void a_request_publishes(execution& run) {
  stop_source stop;
  var<int> reason{0, "reason"};
  run.thread("stops", [&] {
    reason = 1;
    stop.request();
  });
  run.thread("asks", [&] {
    if (stop.requested() != verdict::idle) require(reason == 1);
  });
  run.join();
}

// The mistakes that the protocol forbids.
enum class mistake { looks_before_locking, gives_back_what_was_popped };

template <mistake Wrong>
class hasty_source {
 public:
  bool request() noexcept {
    {
      locked guard(mutex_);
      strength_.store(1, std::memory_order_release);
    }
    while (stop_node* node = pop()) node->fire(*node, verdict::cancelled);
    return true;
  }
  verdict attach(stop_node& node) noexcept {
    if (strength_.load(std::memory_order_acquire) != 0) return verdict::cancelled;
    locked guard(mutex_);
    if (Wrong != mistake::looks_before_locking && strength_.load(std::memory_order_acquire) != 0) {
      return verdict::cancelled;
    }
    nodes_.push_back(node);
    return verdict::idle;
  }
  bool detach(stop_node& node) noexcept {
    locked guard(mutex_);
    if (!node.linked()) return Wrong == mistake::gives_back_what_was_popped;
    nodes_.erase(node);
    return true;
  }

 private:
  stop_node* pop() noexcept {
    locked guard(mutex_);
    return nodes_.empty() ? nullptr : &nodes_.pop_front();
  }
  thread_mutex mutex_;
  atomic<int> strength_{0};
  list<stop_node> nodes_;
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 1};

}  // namespace

TEST_CASE("a stop fires each node once or leaves it to its owner") {
  ::verdict::none(bounds, two_wait_one_stops<stop_source>);
}

TEST_CASE("a cancellation and a kill that meet end every wait, and the kill stays") {
  ::verdict::none(bounds, cancelled_and_killed);
}

TEST_CASE("a stop source publishes what led to the request") {
  ::verdict::never(a_request_publishes);
  CHECK(model::unneeded_orderings({.preemptions = 2, .stale_reads = 2}, a_request_publishes).find("stop.cpp") ==
        std::string::npos);
}

TEST_CASE("a source that looks for the request before it locks forgets a node") {
  ::verdict::found(bug::lost_wakeup, bounds, two_wait_one_stops<hasty_source<mistake::looks_before_locking>>);
}

TEST_CASE("a source that gives back a node that it has popped fires freed memory") {
  auto result = model::explore(bounds, two_wait_one_stops<hasty_source<mistake::gives_back_what_was_popped>>);
  INFO(result.text());
  CHECK((result.kind == bug::use_after_destroy || result.kind == bug::data_race));
}
