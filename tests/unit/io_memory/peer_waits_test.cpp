// Waits for the drain of a server and for the end of a peer, at one connection at the same time. Neither hides the
// other. A manual clock gives the time.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/detail/readiness_job.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <optional>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;
using detail::descriptor_access;
using detail::readiness_job;
using detail::repeating_job;
using detail::watch_outcome;

namespace {

constexpr const char* address = "10.0.0.1:80";

enum class awaited { drain, peer_end };
enum class cause { drain, half_close, full_close };
constexpr std::array all_awaited{awaited::drain, awaited::peer_end};
constexpr std::array all_causes{cause::drain, cause::half_close, cause::full_close};

bool ends(cause happened, awaited operation) { return (happened == cause::drain) == (operation == awaited::drain); }

// One wait. It has no outcome while it waits.
struct wait_of_test {
  awaited operation;
  std::optional<std::error_code> outcome{};
  std::optional<peer_end> end{};
};

task<> wait_at(tcp::stream& peer, wait_of_test& current) {
  if (current.operation == awaited::drain) {
    const auto drained = co_await peer.drain_requested();
    current.outcome = drained ? std::error_code() : drained.error();
    co_return;
  }
  const auto end = co_await peer.closed();
  current.outcome = end ? std::error_code() : end.error();
  if (end) current.end = *end;
}

// Watches the end of a peer, as a job_connection does.
class watching_job final : public readiness_job {
 public:
  explicit watching_job(executor& home) : readiness_job(home, &watching_job::run_job) { open(*this); }
  ~watching_job() { close(*this); }

  // False: the peer has ended.
  bool watch(loop& lp, tcp::stream& peer) {
    auto watched = spawn(lp, [&]() -> task<bool> { co_return watch_here(peer); });
    lp.run_until(watched);
    return sync_wait(watched);
  }
  bool unwatch(tcp::stream& peer) { return descriptor_access::record_of(peer).peer.unwatch(*this); }

  int runs = 0;

 private:
  bool watch_here(tcp::stream& peer) {
    for (;;) {
      auto look = peer.closed().unwrap();
      if (look.try_now()) return false;
      const watch_outcome outcome = descriptor_access::record_of(peer).peer.watch(*this);
      if (outcome == watch_outcome::ready) continue;
      CHECK(outcome == watch_outcome::linked);
      return true;
    }
  }
  static bool run_job(repeating_job& self) noexcept {
    auto& own = static_cast<watching_job&>(self);
    static_cast<void>(own.take_reasons());
    ++own.runs;
    return true;
  }
};

// A server with one connection. Its handler waits until the test is over.
class world {
 public:
  world() {
    auto caller = spawn(lp, [&]() -> task<> { far_ = (co_await net_.connect(address)).value(); });
    lp.run_until(caller);
    lp.run_for(1ms);
    REQUIRE(near_);
  }
  ~world() {
    far_.close();
    over_.set();
    make(cause::drain);
    lp.run_until(ended_);
    CHECK(sync_wait(ended_).remaining == 0);
  }

  tcp::stream& near() { return *near_; }
  join_handle<void> start(wait_of_test& current) {
    auto waiting = spawn(lp, wait_at, std::ref(near()), std::ref(current));
    lp.run_for(1ms);
    return waiting;
  }
  void make(cause happened) {
    if (happened == cause::full_close) far_.close();
    if (happened == cause::half_close) CHECK(far_.shutdown_write().has_value());
    if (happened == cause::drain && !ended_)
      ended_ = spawn(lp, &tcp::server::graceful_shutdown, &server_, shutdown_options{.drain = 24h});
    lp.run_for(1ms);
  }

  manual_clock clock{time_point(1h)};
  loop lp{{.clock = &clock}};

 private:
  static task<> serve_peer(tcp::stream peer, world& owner) {
    owner.near_ = &peer;
    static_cast<void>(co_await owner.over_.wait());
  }

  memory_network net_{{.clock = &clock}};
  event over_;
  tcp::stream* near_ = nullptr;
  tcp::stream far_;
  tcp::server server_ = tcp::serve(lp, net_.listen(address).value(), &world::serve_peer, std::ref(*this)).value();
  join_handle<shutdown_report> ended_;
};

void check(const wait_of_test& current, const std::vector<cause>& happened) {
  CAPTURE(static_cast<int>(current.operation));
  bool has_ended = false;
  for (const cause each : happened) has_ended = has_ended || ends(each, current.operation);
  CHECK(current.outcome.has_value() == has_ended);
  if (!has_ended) return;
  CHECK(current.outcome == std::error_code());
  CHECK(current.end.has_value() == (current.operation == awaited::peer_end));
}

struct scenario {
  awaited first, second;
  cause happening, next;
};

template <class Function>
void for_each_scenario(Function function) {
  for (const awaited first : all_awaited) {
    for (const awaited second : all_awaited) {
      for (const cause happening : all_causes) {
        CAPTURE(static_cast<int>(first));
        CAPTURE(static_cast<int>(second));
        CAPTURE(static_cast<int>(happening));
        function(scenario{first, second, happening, happening == cause::drain ? cause::full_close : cause::drain});
      }
    }
  }
}

}  // namespace

TEST_CASE("of two waits at one connection each hears what it waits for, the drain or the end of the peer") {
  for_each_scenario([](const scenario& current) {
    for (const bool beside_job : {false, true}) {
      CAPTURE(beside_job);
      wait_of_test first{current.first}, second{current.second};
      world w;
      watching_job job(w.lp);
      if (beside_job) REQUIRE(job.watch(w.lp, w.near()));
      auto first_wait = w.start(first);
      auto second_wait = w.start(second);
      check(first, {});
      check(second, {});
      w.make(current.happening);
      check(first, {current.happening});
      check(second, {current.happening});
      w.make(current.next);
      check(first, {current.happening, current.next});
      check(second, {current.happening, current.next});
      CHECK(job.runs == (beside_job ? 1 : 0));
      CHECK_FALSE(job.unwatch(w.near()));
    }
  });
}

TEST_CASE("a wait that begins after its reason returns at once beside a wait for another reason") {
  for_each_scenario([](const scenario& current) {
    wait_of_test first{current.first}, second{current.second};
    world w;
    auto first_wait = w.start(first);
    w.make(current.happening);
    auto second_wait = w.start(second);
    check(first, {current.happening});
    check(second, {current.happening});
    w.make(current.next);
    check(first, {current.happening, current.next});
    check(second, {current.happening, current.next});
  });
}

TEST_CASE("if one of two waits at a connection is cancelled, the other one hears what it waits for") {
  for_each_scenario([](const scenario& current) {
    for (const bool cancels_first : {true, false}) {
      for (const bool beside_job : {false, true}) {
        CAPTURE(cancels_first);
        CAPTURE(beside_job);
        wait_of_test first{current.first}, second{current.second};
        world w;
        watching_job job(w.lp);
        if (beside_job) REQUIRE(job.watch(w.lp, w.near()));
        auto first_wait = w.start(first);
        auto second_wait = w.start(second);
        wait_of_test& cancelled = cancels_first ? first : second;
        wait_of_test& other = cancels_first ? second : first;
        (cancels_first ? first_wait : second_wait).cancel();
        w.lp.run_for(1ms);
        CHECK(cancelled.outcome.value() == std::errc::operation_canceled);
        check(other, {});
        w.make(current.happening);
        check(other, {current.happening});
        w.make(current.next);
        check(other, {current.happening, current.next});
        CHECK(job.runs == (beside_job ? 1 : 0));
        CHECK_FALSE(job.unwatch(w.near()));
      }
    }
  });
}

TEST_CASE("a select over the drain and the end of the peer ends by either") {
  for (const bool is_drain_first : {true, false}) {
    for (const cause happening : all_causes) {
      CAPTURE(is_drain_first);
      CAPTURE(static_cast<int>(happening));
      std::optional<bool> is_drained;
      world w;
      auto waiting = spawn(w.lp, [&]() -> task<> {
        if (is_drain_first) {
          auto first = co_await select(w.near().drain_requested(), w.near().closed());
          if (first) is_drained = first->index() == 0;
        } else {
          auto first = co_await select(w.near().closed(), w.near().drain_requested());
          if (first) is_drained = first->index() == 1;
        }
      });
      w.lp.run_for(1ms);
      CHECK_FALSE(is_drained.has_value());
      w.make(happening);
      CHECK(is_drained == (happening == cause::drain));
    }
  }
}

TEST_CASE("a job is linked to the end of a peer beside a wait for the drain") {
  wait_of_test drain{awaited::drain};
  world w;
  watching_job job(w.lp);
  auto waiting = w.start(drain);
  REQUIRE(job.watch(w.lp, w.near()));
  w.make(cause::half_close);
  CHECK(job.runs == 1);
  CHECK_FALSE(job.watch(w.lp, w.near()));
  check(drain, {cause::half_close});
  w.make(cause::drain);
  check(drain, {cause::drain});
}

TEST_CASE("closing a connection ends the waits for its drain") {
  wait_of_test drain{awaited::drain}, end{awaited::peer_end}, late{awaited::drain};
  world w;
  auto first = w.start(drain);
  auto second = w.start(end);
  w.near().close();
  w.lp.run_for(1ms);
  CHECK(drain.outcome.value() == std::errc::operation_canceled);
  CHECK(end.outcome.value() == std::errc::operation_canceled);
  auto third = w.start(late);
  CHECK(late.outcome.value() == std::errc::bad_file_descriptor);
}
