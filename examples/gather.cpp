// A service that asks several others at once: the answers of all (when_all), of the first (when_any), of a majority
// (when_some), the outcome of each (when_all_settled), one path for errors (or_return), and an exception that passes
// through tasks without a catch (propagate).
#include <hocket/stackless.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// Stands for a server far away, which answers after some turns of the loop, if at all.
task<result<int>> ask(int answer, int turns) {
  for (; turns > 0; --turns) co_await yield();
  if (answer < 0) co_return failure(std::errc::host_unreachable);
  co_return answer;
}

// The price and the stock, asked for at once: the first error ends both questions, and this task.
task<result<std::string>> offer(int price, int stock) {
  auto [euros, pieces] = co_await or_return(within(2s, when_all(ask(price, 3), ask(stock, 1))));
  co_return std::to_string(pieces) + " pieces at " + std::to_string(euros);
}

task<int> fastest() {
  auto first = co_await when_any(ask(1, 50), ask(2, 2));
  co_return first.index() == 1 ? *first.get<1>() : 0;
}

// True as soon as two of three have agreed.
task<bool> is_written() {
  std::vector<task<result<int>>> replicas;
  for (int turns : {100, 1, 2}) replicas.push_back(ask(1, turns));
  int agreed = 0;
  for (auto& one : co_await when_some(2, std::move(replicas))) agreed += one.value ? *one.value : 0;
  co_return agreed == 2;
}

task<result<int>> ask_nobody() {
  throw std::logic_error("nobody to ask");
  co_return 0;
}

// The outcome of each; a failure does not cancel the others.
task<std::string> survey() {
  std::vector<task<result<int>>> asked;
  for (int answer : {7, -1}) asked.push_back(ask(answer, 2));
  asked.push_back(ask_nobody());
  std::string told;
  for (outcome<int>& one : co_await when_all_settled(std::move(asked))) {
    if (one) told += std::to_string(*one);
    else told += one.kind() == outcome_kind::exception ? ", an exception" : ", " + one.error().message();
  }
  co_return told;
}

// These tasks do not catch, so the exception is not rethrown in each of them.
task<int> read(bool broken) {
  if (broken) throw std::runtime_error("broken");
  co_return 5;
}
task<int> parse(bool broken) { co_return 1 + co_await read(broken).propagate(); }
task<int> evaluate(bool broken) { co_return 1 + co_await parse(broken).propagate(); }

task<bool> everything_works() {
  auto good = co_await offer(20, 3);
  auto bad = co_await offer(20, -1);
  std::puts(good->c_str());
  bool caught = false;
  try {
    co_await evaluate(true);
  } catch (const std::runtime_error&) {
    caught = true;
  }
  const int value = co_await evaluate(false), first = co_await fastest();
  const bool written = co_await is_written();
  const std::string told = co_await survey();
  co_return *good == "3 pieces at 20" && bad.error() == std::errc::host_unreachable && caught && value == 7 &&
      first == 2 && written && told == "7, " + bad.error().message() + ", an exception";
}

}  // namespace

int main() { return run(everything_works) ? 0 : 1; }
