// The search over executions, the report, and the free functions by which a test reaches the running engine.
#include <hocket/model/detail/explore.hpp>

#include "engine.hpp"
#include "search.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {
namespace {

bool spent(const options& bounds, const report& result) {
  return bounds.executions != 0 && result.executions == bounds.executions;
}

// Runs the present path; true if it shows a bug.
bool attempt(engine& runner, const engine::limits& allowed, report& result) {
  runner.execute(allowed);
  ++result.executions;
  result.steps += runner.step_count();
  if (runner.bug_kind() == bug::none) return false;
  runner.describe(result);
  return true;
}

void explore_randomly(engine& runner, const options& bounds, report& result) {
  const engine::limits allowed{bounds.preemptions, bounds.stale_reads, bounds.spurious};
  runner.decisions().random(bounds.seed);
  while (result.executions < bounds.random && !spent(bounds, result)) {
    if (attempt(runner, allowed, result)) return;
    runner.decisions().advance();
  }
}

// One depth-first pass under fixed limits; false if the search is over: a bug, or no executions left.
bool pass(engine& runner, const options& bounds, const engine::limits& allowed, report& result) {
  runner.decisions().walk();
  do {
    if (spent(bounds, result) || attempt(runner, allowed, result)) return false;
  } while (runner.decisions().advance());
  return true;
}

// The limits grow together, so that the first bug found is a simple one. A pass costs a fraction of the next.
void explore_all(engine& runner, const options& bounds, report& result) {
  const auto widest = std::max({bounds.preemptions, bounds.stale_reads, bounds.spurious});
  for (std::uint32_t width = 0; width <= widest; ++width) {
    runner.uncut();
    const engine::limits allowed{std::min(bounds.preemptions, width), std::min(bounds.stale_reads, width),
                                 std::min(bounds.spurious, width)};
    if (!pass(runner, bounds, allowed, result)) return;
    result.exhaustive = !runner.cut();
    if (result.exhaustive) break;
  }
  result.complete = true;
}

}  // namespace

report search(engine& runner, const options& bounds) {
  report result;
  if (bounds.random != 0) explore_randomly(runner, bounds, result);
  else explore_all(runner, bounds, result);
  return result;
}

const char* to_string(bug kind) noexcept {
  switch (kind) {
    case bug::none: return "no bug";
    case bug::assertion: return "assertion";
    case bug::data_race: return "data race";
    case bug::use_after_destroy: return "use after destruction";
    case bug::deadlock: return "deadlock";
    case bug::lost_wakeup: return "lost wake-up";
    case bug::livelock: return "livelock";
    case bug::exception: return "exception";
    case bug::misuse: return "misuse";
    case bug::nondeterminism: return "nondeterminism";
  }
  return "unknown";
}

std::string report::text() const {
  std::string out = to_string(kind);
  if (found()) out += ": " + message;
  out += "\n" + interleaving;
  if (!replay.empty()) out += "replay: " + replay + "\n";
  out += std::to_string(executions) + " executions, " + std::to_string(steps) + " operations";
  if (exhaustive) out += ", exhaustive";
  else if (complete) out += ", complete within the bounds";
  else if (!found()) out += ", incomplete";
  return out + "\n";
}

namespace detail {

report explore(const options& bounds, test body) {
  engine runner(bounds, body);
  return search(runner, bounds);
}

report replay(const options& bounds, std::string_view decisions, test body) {
  report result;
  engine runner(bounds, body);
  if (!runner.decisions().replay(decisions)) {
    result.kind = bug::nondeterminism;
    result.message = "this is not a replay string";
    return result;
  }
  if (!attempt(runner, {}, result)) runner.describe(result);
  return result;
}

}  // namespace detail

void execution::add(const char* name, std::unique_ptr<detail::thread_body> body) {
  engine::current()->declare(name, std::move(body));
}
void execution::join() { engine::current()->join(); }

void require(bool holds, const char* message, std::source_location where) {
  if (!holds) fail(message, where);
}

void pause(std::source_location where) {
  if (auto* running = engine::current()) running->pause(where);
}

std::size_t thread_index() noexcept {
  auto* running = engine::current();
  return running ? running->running() : 0;
}

std::uint64_t execution_number() noexcept {
  auto* running = engine::current();
  return running ? running->number() : 0;
}

}}}  // namespace hocket::model
