// One direction of a descriptor under every schedule: readers, the driver and a thread that assists it, stops of waits,
// and the closing. The system is a few lines here (shim/hocket/io/seam/open_descriptor.hpp). The variants that must
// fail are in tests/mutants.
#include <hocket/core/stop.hpp>

#include "io/stage.hpp"

#include <array>

namespace {

using hocket::stop_source;
using hocket::model::execution;
using hocket::model::require;
using hocket_test::is_byte;
using hocket_test::is_closed;
using hocket_test::model_object;
using hocket_test::place;
using hocket_test::stage;
using hocket_test::wait_at;
namespace model = hocket::model;

template <std::uint32_t Bytes, bool Assisted>
void reads_all(execution& run) {
  stage on(1);
  place where;
  run.thread("reader", [&] {
    for (std::uint32_t i = 0; i < Bytes; ++i) require(is_byte(wait_at(where, on.read())));
    on.ends();
  });
  run.thread("peer", [&] {
    for (std::uint32_t i = 0; i < Bytes; ++i) on.at->peer_writes();
  });
  run.thread("driver", [&] { on.drive(); });
  if (Assisted) run.thread("assistant", [&] { on.at->poll(); });
  run.join();
  on.clear();
}

// An edge comes, by the assistant, while the driver is at a call that an edge without bytes has led to.
void edge_at_the_call(execution& run) {
  stage on(1);
  place where;
  run.thread("reader", [&] {
    require(is_byte(wait_at(where, on.read())));
    on.ends();
  });
  run.thread("driver", [&] {
    on.at->tells_of_nothing();
    on.drive();
  });
  run.thread("assistant", [&] {
    on.at->peer_writes();
    on.at->poll();
  });
  run.join();
  on.clear();
}

// The byte comes by the wait that is stopped, or by the next. An edge that tells of nothing comes before.
template <bool Assisted>
void is_stopped(execution& run) {
  stage on(1);
  model_object<stop_source> stop;
  place stopped(&*stop), where;
  run.thread("reader", [&] {
    if (!wait_at(stopped, on.read())) {
      on.at->look_back();
      require(is_byte(wait_at(where, on.read())));
    }
    on.ends();
  });
  run.thread("peer", [&] {
    on.at->tells_of_nothing();
    on.at->peer_writes();
  });
  run.thread("driver", [&] { on.drive(); });
  if (Assisted) run.thread("assistant", [&] { on.at->poll(); });
  run.thread("stop", [&] { stop->request(); });
  run.join();
  on.clear();
  stop.free();
}

// The driver is at the call for a wait that is stopped. Nothing comes before that wait is over.
void is_stopped_at_the_call(execution& run) {
  stage on(1);
  model_object<stop_source> stop;
  place stopped(&*stop), where;
  run.thread("reader", [&] {
    require(!wait_at(stopped, on.read()));
    on.at->peer_writes();
    require(is_byte(wait_at(where, on.read())));
    on.ends();
  });
  run.thread("driver", [&] {
    on.at->tells_of_nothing();
    on.drive();
  });
  run.thread("stop", [&] { stop->request(); });
  run.join();
  on.clear();
  stop.free();
}

template <bool Stopped>
void two_wait_in_line(execution& run) {
  stage on(2);
  model_object<stop_source> stop;
  place first(Stopped ? &*stop : nullptr), second;
  run.thread("first", [&] {
    if (!wait_at(first, on.read())) on.at->peer_writes();  // for the driver to have something to do
    on.ends();
  });
  run.thread("second", [&] {
    require(is_byte(wait_at(second, on.read())));
    on.ends();
  });
  run.thread("system", [&] {
    on.at->peer_writes();
    on.at->peer_writes();
    on.drive();
  });
  if (Stopped) run.thread("stop", [&] { stop->request(); });
  run.join();
  on.clear();
  stop.free();
}

// Two that try at once, and one of them finds the byte.
void two_read_beside(execution& run) {
  stage on(2);
  on.at->peer_writes();
  on.at->peer_writes();
  place first, second;
  for (place* where : {&first, &second}) {
    run.thread("reader", [&, where] {
      require(is_byte(wait_at(*where, on.read())));
      on.ends();
    });
  }
  run.thread("driver", [&] { on.drive(); });
  run.join();
  on.clear();
}

// Each is meant whole: the bytes of one follow each other.
void two_read_whole(execution& run) {
  stage on(2);
  on.at->peer_writes();
  place first, second;
  for (place* where : {&first, &second}) {
    run.thread("reader", [&, where] {
      std::array<int, 2> bytes{};
      const auto both = wait_at(*where, on.read_both(bytes));
      require(both && *both == 2);
      require(bytes[1] == bytes[0] + 1);
      on.ends();
    });
  }
  run.thread("system", [&] {
    for (int i = 0; i < 3; ++i) on.at->peer_writes();
    on.drive();
  });
  run.join();
  on.clear();
}

// What is closed beside a reader ends its wait, and what comes after finds it closed.
template <bool Data>
void is_closed_meanwhile(execution& run) {
  stage on(1);
  place where;
  run.thread("reader", [&] {
    if (wait_at(where, on.read())) require(is_closed(wait_at(where, on.read())));
    on.ends();
  });
  run.thread("closes", [&] { on.at->in.close(); });
  run.thread("system", [&] {
    if (Data) on.at->peer_writes();
    on.drive();
  });
  run.join();
  require(on.at->is_fd_closed(), "it was not closed");
  on.at.free();
}

// A stop and a close, while the driver may be at the call.
void is_closed_and_stopped(execution& run) {
  stage on(1);
  model_object<stop_source> stop;
  place stopped(&*stop);
  run.thread("reader", [&] {
    require(!wait_at(stopped, on.read()));
    on.ends();
  });
  run.thread("closes", [&] { on.at->in.close(); });
  run.thread("stop", [&] { stop->request(); });
  run.thread("driver", [&] {
    on.at->tells_of_nothing();
    on.drive();
  });
  run.join();
  require(on.at->is_fd_closed(), "it was not closed");
  on.at.free();
  stop.free();
}

// A thread that assists has an event of a descriptor, which is closed and used again before it tells the event. An
// operation of the old descriptor may be late, too.
template <bool Assisted>
void is_told_late(execution& run) {
  stage on(2);
  place old, where;
  auto of_old = on.read();
  run.thread("old reader", [&] {
    require(is_closed(wait_at(old, std::move(of_old))));
    on.ends();
  });
  run.thread("next", [&] {
    on.at->in.close();
    if (on.at->is_fd_closed()) {
      on.at->is_used_again();
      on.at->peer_writes();
      require(is_byte(wait_at(where, on.read())));
    }
    on.ends();
  });
  if (Assisted) run.thread("assistant", [&] { on.at->tells_late(); });
  run.thread("driver", [&] { on.drive(); });
  run.join();
  on.clear();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options few{.preemptions = 1, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("a reader gets every byte") {
  ::verdict::none({.preemptions = 2, .stale_reads = 1, .spurious = 1}, &reads_all<1, false>);
  ::verdict::none(few, &reads_all<2, false>);
}

TEST_CASE("a reader gets every byte, whichever thread sees the edges") { ::verdict::none(few, &reads_all<2, true>); }

TEST_CASE("an edge that comes during the driver's call leads to another call") {
  ::verdict::none(bounds, &edge_at_the_call);
}

TEST_CASE("a wait that is stopped during the driver's call is let go of") {
  ::verdict::none(bounds, &is_stopped_at_the_call);
}

TEST_CASE("a reader whose wait is stopped gets the byte, by that wait or by the next") {
  ::verdict::none(few, &is_stopped<false>);
  ::verdict::none(few, &is_stopped<true>);
}

TEST_CASE("two readers of one direction get a byte each") {
  ::verdict::none(few, &two_wait_in_line<false>);
  ::verdict::none(few, &two_wait_in_line<true>);
}

TEST_CASE("two reads that are meant whole do not share their bytes") { ::verdict::none(few, &two_read_whole); }

TEST_CASE("closing ends a read, and no call comes after it") {
  ::verdict::none(bounds, &is_closed_meanwhile<false>);
  ::verdict::none(bounds, &is_closed_meanwhile<true>);
}

TEST_CASE("a stop and a close of one wait end it once") { ::verdict::none(few, &is_closed_and_stopped); }

TEST_CASE("an event that is told late, to the next descriptor, takes nothing and hides nothing") {
  ::verdict::none(few, &is_told_late<true>);
}

TEST_CASE("every ordering of a direction is needed") {
  constexpr model::options narrow{.preemptions = 2, .stale_reads = 1, .spurious = 0, .weakened = "direction.cpp"};
  CHECK(::verdict::unneeded_in(
            "direction.cpp", model::unneeded_orderings(narrow, &is_closed_meanwhile<true>, &two_read_beside,
                                                       &is_stopped_at_the_call, &two_wait_in_line<false>,
                                                       &edge_at_the_call, &is_stopped<false>, &is_told_late<false>)) ==
        "");
}
