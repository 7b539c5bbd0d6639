// Every primitive together, by brute force: tasks, fibers and migratable fibers on a runtime of 3 workers use all
// primitives in a random order, while this thread cancels and kills some of them. These rules must hold:
//
//   mutex, shared_mutex, semaphore, monitor, once    never more holders than permitted; all is free in the end
//   channel, requests by oneshot                     each sent item was received, or is left; each request is answered
//                                                    by its own number, or its sender has left
//   broadcast, watch                                 numbers rise; a broadcast reports each of its gaps
//   spsc_channel                                     one sender's numbers in order, none is missing
//   latch, completion                                all waiters for the round's end continue
//
// The steady coroutines of a round have no deadline, and are not cancelled: they hang if anything is lost.
// It runs for HOCKET_STRESS_SECONDS (default: 10). The seed is random and printed; HOCKET_STRESS_SEED=<n> repeats
// its choices (the schedule is the machine's).
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/barrier.hpp>
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/completion.hpp>
#include <hocket/sync/latch.hpp>
#include <hocket/sync/monitor.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/once.hpp>
#include <hocket/sync/shared_mutex.hpp>
#include <hocket/sync/spsc_channel.hpp>
#include <hocket/sync/watch.hpp>
#include <hocket/time/sleep.hpp>

#include "stress/races.hpp"
#include "suites/world.hpp"

#include <chrono>
#include <cstdlib>

using namespace hocket_test;

namespace {

constexpr std::size_t crowd = 30;
constexpr int steps_of_each = 12, in_a_row = 300, numbers = 500;

std::chrono::seconds time_to_run() {
  const char* given = std::getenv("HOCKET_STRESS_SECONDS");
  return std::chrono::seconds(given ? std::strtol(given, nullptr, 10) : 10);
}

struct by_fiber {
  template <class A>
  static decltype(auto) await(A&& a) {
    return hocket::await(std::forward<A>(a));
  }
};

// How many are inside of something.
class room {
 public:
  explicit room(int places) : places_(places) {}
  bool broken() const { return broken_ || inside_ != 0; }
  class visit {
   public:
    explicit visit(room& in, int places = 1) : in_(in), places_(places) {
      if (in_.inside_.fetch_add(places_) + places_ > in_.places_) in_.broken_ = true;
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() { in_.inside_ -= places_; }

   private:
    room& in_;
    const int places_;
  };

 private:
  const int places_;
  std::atomic<int> inside_{0};
  std::atomic<bool> broken_{false};
};

struct request {
  std::uint64_t number;
  oneshot_sender<std::uint64_t> reply;
};

// What the coroutines of one round share.
struct market {
  mutex lock;
  shared_mutex shelf;
  semaphore permits{3};
  monitor office;
  once work;
  room locked{1}, shelved{100}, permitted{3}, in_office{1}, at_work{1};
  barrier meeting{2};
  event bell;
  channel<std::uint64_t> items{2};
  std::atomic<long> sent{0}, received{0};
  channel<request> requests{channel<request>::unbounded};
  broadcast<std::uint64_t> news{8};
  std::atomic<std::uint64_t> told{0};
  watch<std::uint64_t> latest{0};
  mutex editor;  // of the news: their numbers rise
  spsc_channel<int> line{4};
  latch all_done{crowd};
  completion<int> closing;
  std::atomic<int> wrong{0}, reached_the_end{0};
};

duration limit_of(detail::random_engine& random) { return random.below(3) == 0 ? duration::max() : short_time(random); }

// Locks and permits; a loop over a free mutex uses the budget up.
template <class Body>
Body use_locks(market& in, detail::random_engine& random, bool& goes_on) {
  const duration limit = short_time(random);
  const bool stays = random.below(3) == 0;
  switch (random.below(6)) {
    case 0:
      for (int i = 0; i < in_a_row; ++i) {
        auto held = co_await within(limit, in.lock.lock());
        if (!held) break;
        room::visit here(in.locked);
      }
      break;
    case 1: {
      auto held = co_await within(limit, in.shelf.lock());
      if (!held) break;
      room::visit here(in.shelved, 100);
      if (stays) co_await yield();
      break;
    }
    case 2: {
      auto held = co_await within(limit, in.shelf.lock_shared());
      if (!held) break;
      room::visit here(in.shelved);
      if (!stays) break;
      auto went_on = co_await yield();
      goes_on = went_on.has_value();
      break;
    }
    case 3: {
      auto held = co_await within(limit, in.permits.acquire());
      if (!held) break;
      room::visit here(in.permitted);
      if (stays) co_await yield();
      break;
    }
    case 4: {
      auto turn = co_await within(limit, in.work.enter());
      if (!turn || !*turn) break;
      room::visit here(in.at_work);
      if (stays) co_await yield();
      if (random.below(20) == 0) turn->done();
      break;
    }
    default: {
      auto inside = co_await within(limit, in.office.enter());
      if (!inside) break;
      std::optional<room::visit> here(std::in_place, in.in_office);
      in.office.notify_one();
      if (!stays) break;
      here.reset();
      auto notified = co_await within(limit, in.office.wait(*inside));
      goes_on = notified || notified.error() == std::errc::timed_out;
    }
  }
}

template <class Body>
Body use_channels(market& in, detail::random_engine& random) {
  const duration limit = short_time(random);
  switch (random.below(5)) {
    case 0: {
      auto sent = co_await within(limit, in.items.send(random()));
      if (sent) ++in.sent;
      break;
    }
    case 1: {
      auto got = co_await within(limit, in.items.receive());
      if (got) ++in.received;
      break;
    }
    case 2: {
      auto got = co_await within(limit, select(in.items.receive(), in.bell.wait()));
      if (got && got->index() == 0 && got->template get<0>()) ++in.received;
      break;
    }
    case 3: {
      const std::uint64_t number = random();
      auto [reply, answer] = make_oneshot<std::uint64_t>();
      if (!in.requests.try_send(request{number, std::move(reply)})) break;
      auto answered = co_await within(limit, answer.receive());
      if (answered && *answered != number) ++in.wrong;
      break;
    }
    default: {
      auto met = co_await within(limit, in.meeting.arrive_and_wait());
      if (!met) co_await sleep_for(short_time(random));
    }
  }
}

template <class Body>
Body use_news(market& in, detail::random_engine& random) {
  if (random.below(2) == 0) {
    auto held = co_await within(short_time(random), in.editor.lock());
    if (!held) co_return;
    const std::uint64_t number = ++in.told;
    in.news.send(number);
    in.latest.set(number);
    co_return;
  }
  auto papers = in.news.subscribe();
  auto screen = in.latest.subscribe();
  std::uint64_t last = 0, seen = 0;
  for (int i = 0; i < 3; ++i) {
    auto next = co_await within(short_time(random), papers.receive());
    if (next) {
      if (last != 0 && *next != last + 1) ++in.wrong;
      last = *next;
    } else if (const std::uint64_t lost = lagged_by(next.error())) {
      last = last == 0 ? 0 : last + lost;
    }
    auto now = co_await within(short_time(random), screen.receive());
    if (!now) continue;
    if (*now < seen) ++in.wrong;
    seen = *now;
  }
}

template <class Body>
Body one_step(market& in, detail::random_engine& random, bool& goes_on) {
  switch (random.below(5)) {
    case 0:
    case 1: return use_locks<Body>(in, random, goes_on);
    case 2:
    case 3: return use_channels<Body>(in, random);
    default: return use_news<Body>(in, random);
  }
}

struct leaves {
  market& in;
  ~leaves() { in.all_done.count_down(); }
};

void visit_in_fiber(market& in, std::uint64_t seed, std::shared_ptr<leaves>) {
  detail::random_engine random(seed);
  bool goes_on = true;
  for (int i = 0; i < steps_of_each && goes_on; ++i) one_step<direct_body<by_fiber>>(in, random, goes_on).get();
}
task<> visit_in_task(market& in, std::uint64_t seed, std::shared_ptr<leaves>) {
  detail::random_engine random(seed);
  bool goes_on = true;
  for (int i = 0; i < steps_of_each && goes_on; ++i) co_await one_step<task<>>(in, random, goes_on);
}

// --- the steady ones

task<> answer_requests(market& in) {
  while (auto one = co_await in.requests.receive()) one->reply.send(one->number);
}
void send_numbers(market& in) {
  for (int i = 0; i < numbers; ++i) in.wrong += !await(in.line.send(i));
  in.line.close();
}
task<> receive_numbers(market& in) {
  int expected = 0;
  while (auto got = co_await in.line.receive()) in.wrong += *got != expected++;
  in.wrong += expected != numbers;
}
void wait_for_all(market& in) {
  in.wrong += !await(in.all_done.wait());
  in.closing.complete(42);
}
task<> wait_for_the_end(market& in) {
  auto end = co_await in.closing.wait();
  in.wrong += !end || *end != 42;
  ++in.reached_the_end;
}

std::vector<join_handle<>> begin_steady(runtime& rt, market& in) {
  std::vector<join_handle<>> all;
  all.push_back(spawn(rt, answer_requests, std::ref(in)));
  all.push_back(spawn(rt, send_numbers, std::ref(in)));
  all.push_back(spawn(rt, receive_numbers, std::ref(in)));
  all.push_back(spawn(rt, {.migratable = true}, wait_for_all, std::ref(in)));
  for (int i = 0; i < 3; ++i) all.push_back(spawn(rt, wait_for_the_end, std::ref(in)));
  return all;
}

std::vector<join_handle<>> begin_crowd(runtime& rt, market& in, detail::random_engine& random) {
  std::vector<join_handle<>> all;
  for (std::size_t i = 0; i < crowd; ++i) {
    const std::uint64_t own = random();
    const spawn_options some{.within = limit_of(random), .migratable = i % 3 == 0};
    auto last = std::make_shared<leaves>(in);
    if (i % 3 != 2) all.push_back(spawn(rt, some, visit_in_fiber, std::ref(in), own, std::move(last)));
    else all.push_back(spawn(rt, {.within = some.within}, visit_in_task, std::ref(in), own, std::move(last)));
  }
  return all;
}

void disturb(market& in, std::vector<join_handle<>>& all, detail::random_engine& random) {
  for (int i = 0; i < 40; ++i) {
    auto& victim = all[random.below(static_cast<std::uint32_t>(all.size()))];
    switch (random.below(6)) {
      case 0: victim.cancel(); break;
      case 1: victim.kill(); break;
      case 2: in.bell.set(); break;
      case 3: in.bell.reset(); break;
      case 4: in.office.notify_all(); break;
      default: std::this_thread::yield();
    }
  }
}

void wait_for(const std::vector<join_handle<>>& all) {
  for (auto& one : all) {
    while (!one.done()) std::this_thread::yield();
  }
}

void one_round(runtime& rt, detail::random_engine& random) {
  market in;
  auto steady = begin_steady(rt, in);
  auto all = begin_crowd(rt, in, random);
  disturb(in, all, random);
  wait_for(all);
  in.requests.close();
  wait_for(steady);
  REQUIRE(in.wrong == 0);
  REQUIRE(in.reached_the_end == 3);
  for (const room* one : {&in.locked, &in.shelved, &in.permitted, &in.in_office, &in.at_work})
    REQUIRE_FALSE(one->broken());
  REQUIRE(static_cast<bool>(in.lock.try_lock()));
  REQUIRE(static_cast<bool>(in.shelf.try_lock()));
  REQUIRE(static_cast<bool>(in.office.try_enter()));
  REQUIRE(in.permits.available() == 3);
  REQUIRE(in.sent == in.received + static_cast<long>(in.items.size()));
}

}  // namespace

TEST_CASE("every primitive together: nothing is lost, and nobody hangs") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  hocket::runtime rt(runtime_options{.workers = 3});
  const auto end = std::chrono::steady_clock::now() + time_to_run();
  long rounds = 0;
  for (; std::chrono::steady_clock::now() < end; ++rounds) one_round(rt, random);
  MESSAGE(rounds, " rounds");
}
