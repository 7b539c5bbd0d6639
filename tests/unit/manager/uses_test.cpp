// The uses of a place of a task manager are numbered: the last of them, and what becomes of the place then.
#include <hocket/core/or_throw.hpp>

#include "manager/manager_core.hpp"
#include "suites/managed_world.hpp"

#include <doctest/doctest.h>
#include <set>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

task<> wait_at_gate(trace& t) {
  leaving here(t);
  co_await or_throw(t.gate.wait());
}

std::uint32_t use_of(task_id id) { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(id) >> 32); }

// A manager of which this thread uses one table.
struct one_table {
  managed_world w;
  task_manager tm{w.lp};
  std::vector<managed_handle<>> handles;

  task_id start(task_group group = {}) {
    handles.push_back(spawn(tm, {.within = 1h, .group = group}, wait_at_gate, std::ref(w.t)));
    return handles.back().id();
  }
  void end_all() {
    w.run();
    w.t.gate.set();
    w.run();
    w.t.gate.reset();
    CHECK(tm.size() == 0);
  }
  detail::shard& table(task_id of) { return tm.core().shard_of(of); }
};

}  // namespace

TEST_CASE("a place whose uses are used up is used no more, and no other place is lost with it") {
  constexpr std::size_t places = detail::shard::block_size;
  one_table all;
  const task_id first = all.start();
  all.end_all();
  detail::shard& table = all.table(first);
  detail::managed_entry& worn = *table.place_at(0);
  worn.use = static_cast<std::uint32_t>(-1) - 1;  // the last but one
  std::set<task_id> seen{first};
  for (const task_group group : {task_group(0), task_group(1)}) {
    const task_id id = all.start(group);
    CHECK(id == worn.id());
    CHECK(seen.insert(id).second);
    CHECK(all.tm.find(id));
    CHECK(all.tm.group_size(1) == group.value);
    all.end_all();
    CHECK_FALSE(all.tm.find(id));
  }
  CHECK(worn.use == 0);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < places - 1; ++i) {
      const task_id id = all.start(task_group(i % 2));
      CHECK(use_of(id) != 0);
      CHECK(seen.insert(id).second);
    }
    CHECK(table.blocks.size() == 1);
    CHECK(worn.state == detail::entry_state::free);
    all.end_all();
  }
  for (const task_id id : seen) CHECK_FALSE(all.tm.find(id));
  for (std::size_t i = 0; i < places; ++i) CHECK(seen.insert(all.start()).second);
  CHECK(table.blocks.size() == 2);
  all.end_all();
}

TEST_CASE("a place whose last use was a reply that nobody wanted is used no more either") {
  one_table all;
  const task_id first = all.start();
  all.end_all();
  detail::managed_entry& worn = *all.table(first).place_at(0);
  worn.use = static_cast<std::uint32_t>(-1);
  {
    auto reply = all.tm.expect<int>();
    CHECK(reply.id() == worn.id());
  }
  CHECK(worn.use == 0);
  auto next = all.tm.expect<int>();
  CHECK(all.table(first).find(next.id()) != &worn);
  CHECK_FALSE(all.tm.complete(next.id(), 1));
}
