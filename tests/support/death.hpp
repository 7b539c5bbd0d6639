// Tests of programs that must die.
//
// The body runs in a forked child with hocket's default fatal handler and the default action of SIGABRT; the parent
// reads the child's standard error and asserts how it ended. Nothing the body does is seen by the parent, so a CHECK of
// doctest that fails in the child ends it: `how` is "a check failed", and its errors say which one. Threads do
// not survive a fork: a body that needs some starts them itself. No other thread may be there then: neither
// ThreadSanitizer nor qemu's user mode can start threads in the child of a process that has several.
#pragma once
#include <source_location>
#include <string>
#include <type_traits>

namespace hocket_test {

// How a child ended. `aborted`: by SIGABRT. `how`: the same for a reader. `returned`: the body did.
struct child_end {
  bool aborted;
  std::string how;
  std::string errors;
  bool returned = false;
};

// Runs body(argument) in a child and waits for it. A child that is still running after a minute is killed.
child_end run_in_child(void (*body)(void*), void* argument);

// Asserts an end by hocket::fatal: abort, a message that contains `message`, and a remedy.
void assert_fatal(const child_end& end, const std::string& message, std::source_location where);

// Asserts that the body returned.
void assert_return(const child_end& end, std::source_location where);

// Runs body() in a child.
template <class Body>
child_end end_of_child(Body&& body) {
  auto call = [](void* argument) { (*static_cast<std::remove_reference_t<Body>*>(argument))(); };
  auto address = const_cast<void*>(static_cast<const volatile void*>(&body));
  return run_in_child(call, address);
}

// Asserts that body() returns, and that no check fails there.
template <class Body>
void expect_return(Body&& body, std::source_location where = std::source_location::current()) {
  assert_return(end_of_child(body), where);
}

// Asserts that body() ends in hocket::fatal with a message that contains `message`.
template <class Body>
void expect_fatal(Body&& body, const std::string& message,
                  std::source_location where = std::source_location::current()) {
  assert_fatal(end_of_child(body), message, where);
}

}  // namespace hocket_test
