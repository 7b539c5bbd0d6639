// A stop source under every schedule: each attached node is fired once or detached, never both, and a detached
// node is not touched any more. The first node is in the slot of the source's word, the others are in its
// lists.
#include <hocket/core/stop.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

#include <string>

namespace {

using hocket::stop_level;
using hocket::stop_source;
using hocket::detail::list;
using hocket::detail::min_stop_level;
using hocket::detail::stop_node;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket::primitive::locked;
using hocket::primitive::thread_mutex;
using hocket_test::kept;
namespace model = hocket::model;

// A node that dies as soon as its owner may free it: when it is detached, or when its fire() has let go.
struct mortal : stop_node {
  var<int> life{0, "life"};
  atomic<std::uint32_t> let_go{0, "let_go"};
  stop_level level = stop_level::none;

  mortal() noexcept {
    fire = [](stop_node& self, stop_level how) noexcept {
      auto& it = static_cast<mortal&>(self);
      it.life = 1;
      it.level = how;
      it.let_go.store(1, std::memory_order_release);
      hocket::detail::futex_wake_one(it.let_go);
    };
  }
  void wait() {
    while (let_go.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(let_go, 0);
  }
};

// An operation that may be stopped. If it ends by itself, it detaches its node.
template <class Source>
void operate(Source& stop, bool ends_by_itself) {
  kept<mortal> node;
  if (stop.attach(*node) == stop_level::none && !(ends_by_itself && stop.detach(*node))) {
    node->wait();
    require(node->level == stop_level::cancel || node->level == stop_level::kill);
  }
  node.free();
}

// An operation that only a kill ends.
void operate_shielded(stop_source& stop, bool ends_by_itself) {
  kept<mortal> node;
  stop_level refused = stop.attach(*node, min_stop_level::kill);
  require(refused == stop_level::none || refused == stop_level::kill,
          "a stop that the node ignores does not refuse it");
  if (refused == stop_level::none && !(ends_by_itself && stop.detach(*node))) {
    node->wait();
    require(node->level == stop_level::kill, "a cancellation reached a shielded node");
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

template <class Source>
void one_waits_one_stops(execution& run) {
  kept<Source> stop;
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
  run.thread("kills", [&] { require(stop.request(stop_level::kill)); });
  run.join();
  require(stop.requested() == stop_level::kill);
  require(accepted <= 1);
}

// A shielded node in the slot or in the list, beside an unshielded one: a cancel does not reach it, a kill does.
void a_shield(execution& run, bool ends_by_itself) {
  stop_source stop;
  run.thread("shielded", [&] { operate_shielded(stop, ends_by_itself); });
  run.thread("open", [&] { operate(stop, false); });
  run.thread("cancels and kills", [&] {
    require(stop.request());
    require(stop.request(stop_level::kill));
  });
  run.join();
}

void a_shield_between_two(execution& run) {
  stop_source stop;
  run.thread("shielded", [&] { operate_shielded(stop, false); });
  run.thread("cancels", [&] { stop.request(); });
  run.thread("kills", [&] { require(stop.request(stop_level::kill)); });
  run.join();
}

// One node that comes and goes twice in the slot, as the waits of one coroutine do.
void again_and_again(execution& run) {
  kept<stop_source> stop;
  run.thread("waits twice", [&] {
    operate(*stop, true);
    operate(*stop, true);
  });
  run.thread("stops", [&] { stop->request(); });
  run.join();
  stop.free();
}

// The thread that pops a node sees the writes of its owner before the attach.
void a_node_publishes(execution& run) {
  stop_source stop;
  mortal node;
  run.thread("waits", [&] {
    node.life = 7;
    if (stop.attach(node) == stop_level::none) node.wait();
  });
  run.thread("stops", [&] { stop.request(); });
  run.join();
}

// Writes before a request are visible to a thread that sees the request by attach() or requested().
void a_request_publishes(execution& run) {
  stop_source stop;
  var<int> reason{0, "reason"};
  run.thread("stops", [&] {
    reason = 1;
    stop.request();
  });
  run.thread("asks", [&] {
    if (stop.requested() != stop_level::none) require(reason == 1);
  });
  run.join();
}

void asked_by_attach(execution& run) {
  stop_source stop;
  var<int> reason{0, "reason"};
  run.thread("stops", [&] {
    reason = 1;
    stop.request();
  });
  run.thread("asks", [&] {
    kept<mortal> node;
    if (stop.attach(*node) != stop_level::none) require(reason == 1);
    else if (!stop.detach(*node)) node->wait();
    node.free();
  });
  run.join();
}

// The orderings in stop.cpp that can be weakened without a failure of `body`.
template <class Body>
std::string unneeded_in_stop(Body body) {
  auto all = model::unneeded_orderings({.preemptions = 3, .stale_reads = 2}, body);
  std::string mine;
  for (std::size_t at = 0; at < all.size();) {
    auto end = all.find('\n', at) + 1;
    if (all.compare(at, 5, "stop.") == 0) mine += all.substr(at, end - at);
    at = end;
  }
  return mine;
}

// The slot beside the request instead of in one word with it: each side stores and then looks at the other's, and with
// anything less than two seq_cst fences both can miss.
class two_word_source {
 public:
  bool request() noexcept {
    strength_.store(1, std::memory_order_release);
    if (stop_node* node = slot_.exchange(nullptr, std::memory_order_acq_rel)) node->fire(*node, stop_level::cancel);
    return true;
  }
  stop_level attach(stop_node& node) noexcept {
    slot_.store(&node, std::memory_order_release);
    if (strength_.load(std::memory_order_acquire) == 0 || !detach(node)) return stop_level::none;
    return stop_level::cancel;
  }
  bool detach(stop_node& node) noexcept {
    stop_node* mine = &node;
    return slot_.compare_exchange_strong(mine, nullptr, std::memory_order_acq_rel);
  }

 private:
  atomic<int> strength_{0};
  atomic<stop_node*> slot_{nullptr};
};

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
    while (stop_node* node = pop()) node->fire(*node, stop_level::cancel);
    return true;
  }
  stop_level attach(stop_node& node) noexcept {
    if (strength_.load(std::memory_order_acquire) != 0) return stop_level::cancel;
    locked guard(mutex_);
    if (Wrong != mistake::looks_before_locking && strength_.load(std::memory_order_acquire) != 0) {
      return stop_level::cancel;
    }
    nodes_.push_back(node);
    return stop_level::none;
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

TEST_CASE("a shielded node is left by a cancellation and reached by the kill that follows or that meets it") {
  for (bool ends_by_itself : {false, true}) {
    ::verdict::none({.preemptions = 2, .stale_reads = 0, .spurious = 0},
                    [=](execution& run) { a_shield(run, ends_by_itself); });
  }
  ::verdict::none(bounds, a_shield_between_two);
}

TEST_CASE("one node may come and go in the slot while a stop comes") { ::verdict::none(bounds, again_and_again); }

TEST_CASE("a stop source publishes what led to the request, and a node what its owner wrote") {
  ::verdict::never(a_request_publishes);
  ::verdict::none(bounds, a_node_publishes);
  CHECK(unneeded_in_stop(a_request_publishes) == "");
  CHECK(unneeded_in_stop(asked_by_attach) == "");
}

TEST_CASE("one wait and one stop meet in the word or not at all") {
  ::verdict::none({.preemptions = 5, .stale_reads = 2, .spurious = 1}, one_waits_one_stops<stop_source>);
}

TEST_CASE("a source whose slot is another word than its request forgets a node") {
  ::verdict::found(bug::lost_wakeup, bounds, one_waits_one_stops<two_word_source>);
}

TEST_CASE("a source that looks for the request before it locks forgets a node") {
  ::verdict::found(bug::lost_wakeup, bounds, two_wait_one_stops<hasty_source<mistake::looks_before_locking>>);
}

TEST_CASE("a source that gives back a node that it has popped fires freed memory") {
  auto result = model::explore(bounds, two_wait_one_stops<hasty_source<mistake::gives_back_what_was_popped>>);
  INFO(result.text());
  CHECK((result.kind == bug::use_after_destroy || result.kind == bug::data_race));
}
