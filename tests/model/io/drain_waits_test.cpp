// Waits for the drain of a server under every schedule: the drain, a stop of one wait, and the closing of the
// connection. The next connection takes its place at once. The variants that must fail are in tests/mutants.
#include <hocket/core/stop.hpp>

#include "io/stage.hpp"

namespace {

using hocket::stop_source;
using hocket::detail::drain_operation;
using hocket::detail::open_descriptor;
using hocket::model::execution;
using hocket::model::require;
using hocket_test::model_object;
using hocket_test::place;
using hocket_test::wait_at;
namespace model = hocket::model;

hocket::primitive::operation<drain_operation> drain_of(open_descriptor& at) {
  return hocket::primitive::operation<drain_operation>(std::in_place, hocket::detail::no_options{}, at);
}
bool is_closed(const hocket::result<void>& returned) {
  const std::error_code error = returned.error_or({});
  return error == std::errc::bad_file_descriptor || error == std::errc::operation_canceled;
}
void expect_no_waits(open_descriptor& at) {
  const hocket::primitive::locked guard(at.mutex());
  require(!at.drains.first(), "a wait is still linked");
}

// Each of two waits hears the drain. The first one may be stopped instead.
template <bool Stopped>
void two_wait(execution& run) {
  model_object<open_descriptor> at;
  model_object<stop_source> stop;
  place first(Stopped ? &*stop : nullptr), second;
  run.thread("first", [&] {
    const auto drained = wait_at(first, drain_of(*at));
    require(drained.has_value() || Stopped, "a wait was not granted");
  });
  run.thread("second", [&] { require(wait_at(second, drain_of(*at)).has_value(), "a wait was not granted"); });
  run.thread("server", [&] { at->drain(); });
  if (Stopped) run.thread("stop", [&] { stop->request(); });
  run.join();
  expect_no_waits(*at);
  at.free();
  stop.free();
}

// The owner closes the connection, also while it is drained. The wait ends once. So does a late wait.
template <bool Drained>
void is_closed_meanwhile(execution& run) {
  model_object<open_descriptor> at;
  place before, after;
  auto wait = drain_of(*at), late = drain_of(*at);
  run.thread("handler", [&] {
    const auto returned = wait_at(before, std::move(wait));
    require(is_closed(returned) || (Drained && returned.has_value()), "a wait has ended without a reason");
  });
  run.thread("owner", [&] {
    at->close_drains();
    require(is_closed(wait_at(after, std::move(late))), "a late wait has taken the place of another one");
  });
  if (Drained) run.thread("server", [&] { at->drain(); });
  run.join();
  expect_no_waits(*at);
  require(at->is_new(), "a use was not dropped");
  at.free();
}

// A wait that was made for a connection begins beside its end, and the next server in its place drains.
void begins_late(execution& run) {
  model_object<open_descriptor> at;
  place where;
  auto old = drain_of(*at);
  run.thread("handler", [&] { require(is_closed(wait_at(where, std::move(old))), "it has heard another drain"); });
  run.thread("owner", [&] {
    at->close_drains();
    if (at->is_new()) at->drain();
  });
  run.join();
  expect_no_waits(*at);
  at.free();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("every wait for a drain ends when the server drains") { ::verdict::none(bounds, &two_wait<false>); }

TEST_CASE("a wait for a drain that is stopped leaves the other one to the drain") {
  ::verdict::none(bounds, &two_wait<true>);
}

TEST_CASE("closing a connection ends the waits for its drain, once, also beside the drain") {
  ::verdict::none(bounds, &is_closed_meanwhile<false>);
  ::verdict::none(bounds, &is_closed_meanwhile<true>);
}

TEST_CASE("a late wait for a drain does not hear the drain of the next connection in its place") {
  ::verdict::none(bounds, &begins_late);
}
