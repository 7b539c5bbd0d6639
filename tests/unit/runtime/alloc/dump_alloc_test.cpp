#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/alloc.hpp"
#include "unit/runtime/dump_table.hpp"
#include "unit/runtime/gate.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

task<void> pass(gate& at) { [[maybe_unused]] auto passed = co_await at.pass(); }

}  // namespace

TEST_CASE("a dump allocates nothing") {
  gate at;
  manual_clock time;
  loop lp({.clock = &time});
  for (int i = 0; i < 10; ++i) spawn(lp, pass, std::ref(at));
  lp.run();
  int fd = ::memfd_create("dump", MFD_CLOEXEC);
  {
    allocation_watch watch;
    lp.dump(fd);
    CHECK(watch.allocations() == 0);
  }
  CHECK(dump_table(read_from_start(fd)).rows.size() == 10);
  ::close(fd);
}
