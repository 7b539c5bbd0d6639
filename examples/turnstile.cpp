// A primitive of one's own (turnstile.hpp), in tasks, and with a deadline.
#include "turnstile.hpp"

#include <hocket/stackless.hpp>

#include <chrono>
#include <functional>

using namespace hocket;
using namespace std::chrono_literals;

static task<bool> goes_through(turnstile& gate) { co_return (co_await gate.pass()).has_value(); }

static task<int> opens_twice() {
  turnstile gate;
  auto first = spawn(goes_through, std::ref(gate));
  auto second = spawn(goes_through, std::ref(gate));
  co_await yield();  // both wait
  gate.let_one_through();
  gate.let_one_through();
  const bool both = *co_await first.join() && *co_await second.join();

  auto late = co_await within(1ms, gate.pass());
  co_return both && !late && late.error() == std::errc::timed_out ? 0 : 1;
}

int main() { return run(opens_twice); }
