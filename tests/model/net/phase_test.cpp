// The phase of a connection under every schedule: a list that checks it, and a connection that begins and ends phases.
// The variants that must fail are in tests/mutants.
#include <hocket/base/seam/locked.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/net/detail/connection_phase.hpp>

#include "verdict.hpp"

#include <chrono>

namespace {

using hocket::time_point;
using hocket::detail::phased_connection;
using hocket::model::execution;
using hocket::model::require;
using hocket::primitive::locked;
using hocket::primitive::thread_mutex;
namespace model = hocket::model;

constexpr time_point present = time_point(std::chrono::hours(1)), deadline = time_point(std::chrono::hours(2));

// In the place of connection_list.
struct phase_list {
  thread_mutex mutex;
  model::var<bool> has_entry{false, "entry"};

  void add() {
    const locked guard(mutex);
    require(!has_entry, "a connection entered the list twice");
    has_entry = true;
  }
  void check(phased_connection& phase) {
    const locked guard(mutex);
    if (!has_entry) return;
    const phased_connection::verdict found = phase.check(present);
    require(found != phased_connection::verdict::late);
    if (found == phased_connection::verdict::no_phase) has_entry = false;
  }
};

template <bool Moves>
void begins_again(execution& run) {
  phased_connection phase;
  phase_list all;
  run.thread("connection", [&] {
    for (int i = 0; i < 2; ++i) {
      if (phase.set_phase(deadline, false)) all.add();
      if (Moves) phase.add_moved(1);
      if (i == 0) phase.end_phase();
    }
  });
  run.thread("list", [&] {
    all.check(phase);
    all.check(phase);
  });
  run.join();
  require(all.has_entry, "a phase is in no list");
  require(!phase.is_late(present));
  require(phase.is_late(deadline + std::chrono::seconds(1)));
}

}  // namespace

TEST_CASE("a phase that lasts is in the list, whenever the list checks") {
  constexpr model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 1};
  ::verdict::none(bounds, &begins_again<false>);
  ::verdict::none(bounds, &begins_again<true>);
}

TEST_CASE("a phase with a rate is late after each ten seconds with less than ten kilobytes") {
  const auto rated = [](execution&) {
    phased_connection slow, quick;
    require(slow.set_phase(deadline, true) && quick.set_phase(deadline, true));
    for (int second = 1; second <= 30; ++second) {
      quick.add_moved(1024);
      slow.add_moved(1023);
      require(quick.check(present) == phased_connection::verdict::in_time);
      const bool is_late = slow.check(present) == phased_connection::verdict::late;
      require(is_late == (second % 10 == 0));
    }
  };
  ::verdict::none(rated);
}
