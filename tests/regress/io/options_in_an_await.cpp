// g++ 11 and 12 destroy an aggregate twice that a co_await expression makes. So options own nothing, and a call may be
// written with its options in the expression that awaits (decision 040).
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>

#include "support/children.hpp"

#include <doctest/doctest.h>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

// Longer than what a std::string holds without an allocation.
std::string variable(int number) { return "HOCKET_TEST_VARIABLE=the text of variable " + std::to_string(number); }

task<result<std::string>> run_with_variable(int number) {
  const std::string extra[] = {variable(number)};
  process child = co_await or_return(process::start({"sh", "-c", "echo $0 $HOCKET_TEST_VARIABLE", variable(0)},
                                                    {.out = process::pipe, .environment = extra}));
  std::string text = co_await or_return(read_all(child.out()));
  static_cast<void>(co_await or_return(child.wait()));
  co_return text;
}

}  // namespace

TEST_CASE("a child is started with its options in the expression that awaits" * doctest::skip(starts_no_children())) {
  CHECK(sync_wait(run_with_variable(7)).value() == variable(0) + " the text of variable 7\n");
}
