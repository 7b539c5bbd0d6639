// Bytes, connections, signals and children in selects and groups with an arm that comes at any time: each is seen once.
// Tasks and fibers, on runtimes of several sizes.
//
// It runs for HOCKET_STRESS_SECONDS (10 by default), or until HOCKET_STRESS_MILLIONS of bytes have arrived. The seed is
// random and printed; HOCKET_STRESS_SEED=<n> repeats its choices (the schedule is the machine's).
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>

#include "stress/rounds.hpp"
#include "support/loopback.hpp"
#include "support/sockets.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <memory>

using namespace hocket_test;

namespace {

struct item_source {
  hocket::event news;
  std::atomic<std::uint64_t> created{0}, seen{0};
  std::atomic<bool> stops{false};
  std::atomic<std::uint64_t> interrupted{0};

  // False: the other arm has won.
  template <class Choice>
  bool is_item(const Choice& first, std::size_t index) {
    if (first.index() == index) return true;
    news.reset();
    ++interrupted;
    return false;
  }
};

// One of four forms, at random; `make` returns the operation. Gives its result, or nothing.
template <class Operation>
auto task_attempt(item_source& source, detail::random_engine& random, Operation make)
    -> task<std::optional<result<typename decltype(make())::value_type>>> {
  const std::uint32_t form = random.below(4);
  if (form == 0) {
    auto first = co_await hocket::select(make(), source.news.wait());
    if (source.is_item(*first, 0)) co_return std::move(first->template get<0>());
  } else if (form == 1) {
    auto first = co_await hocket::select_in_order(source.news.wait(), make());
    if (source.is_item(*first, 1)) co_return std::move(first->template get<1>());
  } else if (form == 2) {
    auto first = co_await hocket::when_any(make(), source.news.wait());
    if (source.is_item(first, 0)) co_return std::move(first.template get<0>());
  } else {
    auto first = co_await hocket::when_any(source.news.wait(), make());
    if (source.is_item(first, 1)) co_return std::move(first.template get<1>());
  }
  co_return std::nullopt;
}

template <class Operation>
auto fiber_attempt(item_source& source, detail::random_engine& random, Operation make)
    -> std::optional<result<typename decltype(make())::value_type>> {
  if (random.below(2) == 0) {
    auto first = hocket::await(hocket::select(make(), source.news.wait())).value();
    if (source.is_item(first, 0)) return std::move(first.template get<0>());
  } else {
    auto first = hocket::await(hocket::when_any(source.news.wait(), make()));
    if (source.is_item(first, 1)) return std::move(first.template get<1>());
  }
  return std::nullopt;
}

// --- bytes

struct byte_run : item_source {
  stream_pair ends = connected();
};

// Each byte is the number of the bytes before it.
void count_bytes(byte_run& run, std::span<const char> bytes) {
  for (const char byte : bytes) {
    REQUIRE(byte == static_cast<char>(run.seen % 251));
    ++run.seen;
  }
}
task<> read_by_task(byte_run& run, std::uint64_t seed) {
  detail::random_engine random(seed);
  std::array<char, 64> buffer;
  for (;;) {
    const std::span<char> part = std::span(buffer).first(1 + random.below(64));
    const auto read = co_await task_attempt(run, random, [&] { return run.ends.far.read_some(part); });
    if (!read) continue;
    if (**read == 0) co_return;
    count_bytes(run, part.first(**read));
  }
}
void read_by_fiber(byte_run& run, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (;;) {
    const auto lent = fiber_attempt(run, random, [&] { return run.ends.far.read_borrowed(); });
    if (!lent) continue;
    if ((*lent)->empty()) return;
    count_bytes(run, (*lent)->text());
  }
}
task<> write_bytes(byte_run& run, std::uint64_t seed) {
  detail::random_engine random(seed);
  std::array<char, 64> buffer;
  while (!run.stops) {
    const std::size_t count = 1 + random.below(random.below(2) == 0 ? 2 : 64);
    for (std::size_t i = 0; i != count; ++i) buffer[i] = static_cast<char>((run.created + i) % 251);
    if (random.below(3) == 0) run.news.set();
    REQUIRE(co_await run.ends.near.write_all(std::span(buffer).first(count)) == count);
    run.created += count;
    if (random.below(3) == 0) run.news.set();
    if (random.below(4) == 0) co_await yield();
  }
  run.ends.near.close();
}

// --- connections

struct accept_run : item_source {
  explicit accept_run(const std::string& name) : address(own_unix_address(name.c_str())) {}
  hocket::socket_address address;
  hocket::tcp::listener door = hocket::tcp::listener::bind(address).value();
};

task<> accept_by_task(accept_run& run, std::uint64_t seed) {
  detail::random_engine random(seed);
  while (!run.stops || run.seen != run.created) {
    auto accepted = co_await task_attempt(run, random, [&] { return run.door.accept(); });
    if (!accepted) continue;
    REQUIRE(accepted->has_value());
    ++run.seen;
  }
}
task<> connect_often(accept_run& run, std::uint64_t seed) {
  detail::random_engine random(seed);
  while (!run.stops) {
    if (random.below(2) == 0) run.news.set();
    ++run.created;
    REQUIRE((co_await hocket::tcp::connect(run.address)).has_value());
    if (random.below(2) == 0) run.news.set();
  }
  while (run.seen != run.created) run.news.set(), co_await yield();
  run.news.set();
}

// --- signals, each sent when the one before was seen, and children

task<> receive_signals(item_source& source, std::uint64_t seed) {
  detail::random_engine random(seed);
  hocket::signal_set signals{SIGUSR2};
  while (!source.stops) {
    ++source.created;
    REQUIRE(::kill(::getpid(), SIGUSR2) == 0);
    while (source.seen != source.created) {
      if (random.below(2) == 0) source.news.set();
      const auto number = co_await task_attempt(source, random, [&] { return signals.next(); });
      if (!number) continue;
      REQUIRE(*number == SIGUSR2);
      ++source.seen;
    }
  }
}
task<> wait_for_children(item_source& source, std::uint64_t seed) {
  detail::random_engine random(seed);
  while (!source.stops) {
    process child = process::start({"true"}).value();
    ++source.created;
    for (bool is_over = false; !is_over;) {
      if (random.below(2) == 0) source.news.set();
      const auto status = co_await task_attempt(source, random, [&] { return child.wait(); });
      if (!status) continue;
      REQUIRE((*status)->code() == 0);
      is_over = true;
      ++source.seen;
    }
  }
}

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

}  // namespace

TEST_CASE("what comes beside another arm is seen once") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  const std::uint64_t enough = number_of("HOCKET_STRESS_MILLIONS", 0) * 1'000'000;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(number_of("HOCKET_STRESS_SECONDS", 10));
  std::uint64_t bytes = 0, connections = 0, signals = 0, children = 0, interrupted = 0;
  for (std::size_t round = 0; enough != 0 ? bytes < enough : std::chrono::steady_clock::now() < end; ++round) {
    byte_run by_task, by_fiber;
    accept_run accepts("stress-arms-" + std::to_string(round));
    item_source signal_source, child_source;
    hocket::runtime rt(runtime_options{.workers = std::size_t{1} << random.below(3)});
    std::vector<join_handle<>> all;
    all.push_back(spawn(rt, read_by_task, std::ref(by_task), random()));
    all.push_back(spawn(rt, write_bytes, std::ref(by_task), random()));
    all.push_back(spawn(rt, read_by_fiber, std::ref(by_fiber), random()));
    all.push_back(spawn(rt, write_bytes, std::ref(by_fiber), random()));
    all.push_back(spawn(rt, accept_by_task, std::ref(accepts), random()));
    all.push_back(spawn(rt, connect_often, std::ref(accepts), random()));
    all.push_back(spawn(rt, receive_signals, std::ref(signal_source), random()));
    all.push_back(spawn(rt, wait_for_children, std::ref(child_source), random()));
    event never;
    CHECK_FALSE(sync_wait(within(std::chrono::seconds(1), never.wait())));
    const std::array<item_source*, 5> sources{&by_task, &by_fiber, &accepts, &signal_source, &child_source};
    for (item_source* source : sources) source->stops = true;
    wait_for(all);
    for (item_source* source : sources) {
      CHECK(source->seen == source->created);
      interrupted += source->interrupted;
    }
    bytes += by_task.seen + by_fiber.seen;
    connections += accepts.seen;
    signals += signal_source.seen;
    children += child_source.seen;
  }
  MESSAGE(bytes, " bytes, ", connections, " connections, ", signals, " signals and ", children,
          " children; the other arm has won ", interrupted, " times");
  CHECK(interrupted > 0);
}
