// stopped() under every schedule: a waiter for a stop gets it, whenever it is requested. A wait that
// ends otherwise leaves nothing at the source, which is freed as soon as no wait is left.
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/stopped.hpp>

#include "sync/waits.hpp"

namespace {

using hocket::result;
using hocket::stop_source;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::suspension;
using hocket::primitive::wait_source;
using hocket::primitive::waiter;
using hocket_test::kept;
using hocket_test::place;
using hocket_test::wait_at;
namespace model = hocket::model;

// A stop is requested while two wait for it; what was done before is visible to them.
void two_wait(execution& run) {
  kept<stop_source> quit;
  var<int> reason{0, "reason"};
  place places[2];
  for (place& where : places)
    run.thread("waits", [&] {
      require(wait_at(where, hocket::stopped(*quit)).has_value());
      require(reason == 1);
    });
  run.thread("requests", [&] {
    reason = 1;
    quit->request();
  });
  run.join();
  quit.free();
}

// The wait for one stop is ended by another one of its own. Both sources outlive it, and no longer.
void ended_beside_the_stop(execution& run) {
  kept<stop_source> quit, own;
  place where(&*own);
  run.thread("waits", [&] {
    auto got = wait_at(where, hocket::stopped(*quit));
    if (!got) require(got.error() == std::errc::operation_canceled);
  });
  run.thread("requests", [&] { quit->request(); });
  run.thread("cancels", [&] { own->request(); });
  run.join();
  quit.free();
  own.free();
}

// In a select with an event: one of the two, and the other one is left.
void selected_beside_an_event(execution& run) {
  kept<stop_source> quit;
  kept<hocket::event> set;
  place where;
  run.thread("selects", [&] {
    auto got = wait_at(where, select(hocket::stopped(*quit), set->wait()));
    require(got.has_value());
    require(got->index() == 1 ? set->is_set() : quit->requested() == hocket::stop_level::cancel);
  });
  run.thread("requests", [&] { quit->request(); });
  run.thread("sets", [&] { set->set(); });
  run.join();
  quit.free();
  set.free();
}

// A watch with one wrong step.
enum class mistake { none, does_not_ask, keeps_the_hold };

template <mistake Made>
struct watch final : wait_source, hocket::detail::stop_node {
  explicit watch(stop_source& of) : source(of) {}
  void begin(suspension& wait, waiter& entry) noexcept {
    fire = [](hocket::detail::stop_node& self, hocket::stop_level) noexcept {
      if (Made != mistake::keeps_the_hold) static_cast<watch&>(self).entry_->claim_popped().post();
    };
    entry_ = &entry;
    entry.enlist(wait, *this);
    const bool late = source.attach(*this) != hocket::stop_level::none;
    if (late && Made != mistake::does_not_ask) entry.claim_popped().post();
  }
  const char* what() const noexcept override { return "a broken watch"; }
  bool detach(waiter&) noexcept override { return source.detach(*this); }
  void pass_on(waiter&) noexcept override {}
  stop_source& source;
  waiter* entry_ = nullptr;
};

template <mistake Made>
struct watching {
  using value_type = void;
  bool try_now() noexcept { return false; }
  void begin(suspension& wait, waiter& entry) noexcept { by->begin(wait, entry); }
  result<void> take() noexcept { return {}; }
  watch<Made>* by;
};

template <mistake Made>
void requested_beside_the_wait(execution& run) {
  kept<stop_source> quit;
  kept<watch<Made>> by(*quit);
  place where;
  run.thread("waits", [&] {
    require(wait_at(where, hocket::primitive::operation<watching<Made>>(watching<Made>{&*by})).has_value());
  });
  run.thread("requests", [&] { quit->request(); });
  run.join();
  by.free();
  quit.free();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("two who wait for a stop are told of it, and see what came before") { ::verdict::none(fresh, two_wait); }

TEST_CASE("a wait for a stop that is cancelled meanwhile ends once, and leaves the source") {
  ::verdict::none(fresh, ended_beside_the_stop);
}

TEST_CASE("a select of a stop and an event takes one of them") { ::verdict::none(fresh, selected_beside_an_event); }

TEST_CASE("a wait for a stop that does not ask what attach() found waits for ever") {
  ::verdict::none(bounds, requested_beside_the_wait<mistake::none>);
  for (auto result : {model::explore(bounds, requested_beside_the_wait<mistake::does_not_ask>),
                      model::explore(bounds, requested_beside_the_wait<mistake::keeps_the_hold>)}) {
    INFO(result.text());
    CHECK(result.found());
  }
}
