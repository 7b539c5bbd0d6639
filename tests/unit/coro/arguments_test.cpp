// What invoke, then, shielded and with() keep of arguments that a callable converts: it is there until the task that
// was returned has ended.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/invoke.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/then.hpp>

#include "suites/converted_arguments.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

task<const char*> literal() { co_return "literal"; }
task<std::string> string() { co_return "string"; }

}  // namespace

TEST_CASE("invoke keeps what a parameter refers to") {
  CHECK(sync_wait(invoke(read_later, "function")) == "function");
  CHECK(sync_wait(invoke(read_later, std::string("string"))) == "string");
  CHECK(sync_wait(invoke(known, "lambda")) == "lambda");
  CHECK(sync_wait(invoke(generic, 1, "generic")) == "generic");
  CHECK(sync_wait(invoke(overloaded(), "pointer", "overloaded")) == "overloaded");
  CHECK(sync_wait(invoke(by_default, 1)) == "default");
  CHECK(sync_wait(invoke(&reader::read, reader(), "pointer")) == "member: pointer");
  CHECK(sync_wait(invoke(&reader::read, reader(), std::string("string"))) == "member: string");
  char buffer[16] = "first";
  auto later = invoke(read_later, buffer);
  buffer[0] = 'F';
  CHECK(sync_wait(std::move(later)) == "first");
  CHECK(text::live == 0);
}

TEST_CASE("then keeps what the parameter of its continuation refers to") {
  CHECK(sync_wait(then(literal(), read_later)) == "literal");
  CHECK(sync_wait(then(string(), known)) == "string");
  CHECK(sync_wait(then([]() -> task<int> { co_return 1; }(), by_default)) == "default");
  CHECK(sync_wait(then([]() -> task<> { co_return; }(), only_default)) == "default");
  CHECK(text::live == 0);
}

TEST_CASE("shielded and with() keep the default argument of what they call") {
  static const context_local<std::string> label;
  CHECK(sync_wait(shielded(only_default)) == "default");
  CHECK(sync_wait(label.with("a literal", only_default)) == "default");
  CHECK(sync_wait(label.with("a literal", []() -> task<std::string> {
          co_await yield();
          co_return *label;
        })) == "a literal");
}
