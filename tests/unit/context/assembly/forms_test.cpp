// The two forms of a switch in assembly, mixed.
#include "unit/context/strand.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using hocket_test::stack_memory;
using hocket_test::strand;

TEST_CASE("either form goes on at a stack that the other one parked") {
  strand s([](strand& self) {
    for (int i = 0; i < 4; ++i) self.yield();
  });
  s.step();
  s.step();
  static void* resumer;
  stack_memory memory(65536);
  struct body {
    static void run(void*, void* from, void*) {
      resumer = detail::machine::hocket_switch(from, nullptr).from;  // out of line, resumed by the inline form
      resumer = detail::machine::switch_to(resumer, nullptr).from;   // inline, resumed by the out-of-line form
      detail::machine::leave(resumer, nullptr);
    }
  };
  if (detail::sanitizer == detail::sanitizer_kind::plain) {
    void* record = memory.prepare(&body::run, nullptr);
    record = detail::machine::switch_to(record, nullptr).from;
    record = detail::machine::switch_to(record, nullptr).from;
    detail::machine::hocket_switch(record, nullptr);
  }
  s.step();
  s.step();
  s.step();
  CHECK(s.done);
}
