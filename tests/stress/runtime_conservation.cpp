// FAULTS 12 to 16 and 19 by brute force: a million contended waits in a plain build, of both kinds of coroutines, on 1
// to 4 workers, each of which is a race of grants with whatever else may end it: a deadline of 0 to 50 us, a cancel or
// a kill from outside, the close of a channel, a select's other operations, the end of the runtime. Contended is a wait
// that found nothing when it was awaited, and set out to get in line. What the primitives give is counted on both
// sides:
//
//   mutex, semaphore, shared mutex    never more inside than there is room for, and all is free in the end
//   auto_reset_event                  one token: who is let through has it, and sets the event again
//   channels                          items in = items out + items left, by number and by sum; batches and selects, too
//   condition                         accepted notifications = waits that were notified; jobs in = jobs out + jobs left
//   all                               waits begun = waits granted, cancelled, timed out, closed and unwound
//
// Two coroutines of each round have no deadline and nobody cancels them: they would hang if anything was lost.
// The seed is random and printed; HOCKET_STRESS_SEED=<n> repeats its choices.
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/condition.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/shared_mutex.hpp>
#include <hocket/sync/stopped.hpp>

#include "stress/counted_waits.hpp"
#include "stress/races.hpp"
#include "suites/world.hpp"

#include <array>
#include <optional>

using namespace hocket_test;

namespace {

constexpr long races =
    detail::sanitizer == detail::sanitizer_kind::plain && !detail::conforming_mode ? 1'000'000 : 10'000;
constexpr std::size_t crowd = 24, steady = 2;
constexpr int waits_of_each = 8;

// A body that runs where it is called, on a fiber.
struct by_fiber {
  template <class A>
  static decltype(auto) await(A&& a) {
    return hocket::await(std::forward<A>(a));
  }
};

class room {
 public:
  explicit room(int places) : places_(places) {}
  bool broken() const { return broken_ || inside_ != 0; }
  class visit {
   public:
    visit(room& in, int places) : in_(in), places_(places) {
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

// Items of one channel: how many, and their sum.
struct account {
  std::atomic<long> number{0};
  std::atomic<std::uint64_t> sum{0};
  void add(std::uint64_t item) {
    ++number;
    sum += item;
  }
};

using item_channel = channel<std::uint64_t>;

// What the coroutines of one round share.
struct market {
  explicit market(statistics& all) : ends(all) {}
  statistics& ends;

  mutex lock;
  room locked{1};
  semaphore permits{3};
  room permitted{3};
  shared_mutex shelf;
  room shelved{100};
  auto_reset_event token{true};
  room holding_token{1};
  event bell;
  stop_source quit;
  item_channel channels[3]{item_channel(0), item_channel(2), item_channel(item_channel::unbounded)};
  account in[3], out[3];
  mutex guard;  // of the jobs
  condition more;
  int jobs = 0;
  bool over = false;
  long made = 0, done = 0;  // jobs
  std::atomic<long> notified{0}, told{0};

  // Under `guard`.
  void add_job() {
    ++jobs;
    ++made;
    notified += more.notify_one() ? 1 : 0;
  }
};

// How long a wait may take: for ever, or next to nothing.
duration limit_of(detail::random_engine& random, bool patient) {
  return patient || random.below(3) == 0 ? duration::max() : short_time(random);
}

template <class Body>
Body use_locks(market& in, detail::random_engine& random, bool patient, bool& goes_on) {
  const duration limit = limit_of(random, patient);
  const std::uint32_t kind = random.below(5), n = 1 + random.below(3);
  const bool stays = random.below(4) == 0;
  wait_outcome end(in.ends);
  if (kind == 0) {
    auto held = co_await within(limit, counted(in.ends, in.lock.lock()));
    goes_on = end.how(held);
    if (!held) co_return;
    room::visit here(in.locked, 1);
    if (stays) co_await yield();
  } else if (kind == 1) {
    auto held = co_await within(limit, counted(in.ends, in.permits.acquire(n)));
    goes_on = end.how(held);
    if (!held) co_return;
    room::visit here(in.permitted, static_cast<int>(n));
    if (stays) co_await yield();
  } else if (kind == 2) {
    auto held = co_await within(limit, counted(in.ends, in.shelf.lock()));
    goes_on = end.how(held);
    if (!held) co_return;
    room::visit here(in.shelved, 100);
    if (stays) co_await yield();
  } else if (kind == 3) {
    auto held = co_await within(limit, counted(in.ends, in.shelf.lock_shared()));
    goes_on = end.how(held);
    if (!held) co_return;
    room::visit here(in.shelved, 1);
    if (stays) co_await yield();
  } else {
    auto mine = co_await within(limit, counted(in.ends, in.token.wait()));
    goes_on = end.how(mine);
    if (!mine) co_return;
    struct back {
      auto_reset_event& to;
      ~back() { to.set(); }
    } put_back{in.token};
    room::visit here(in.holding_token, 1);
    if (stays) co_await yield();
  }
}

template <class Body>
Body use_channel(market& in, detail::random_engine& random, bool patient, bool& goes_on) {
  const duration limit = limit_of(random, patient);
  const std::size_t which = random.below(3), other = (which + 1) % 3;
  item_channel& c = in.channels[which];
  const std::uint32_t kind = random.below(6);
  wait_outcome end(in.ends);
  std::array<std::uint64_t, 3> items{random(), random(), random()};
  if (kind == 0) {
    auto sent = co_await within(limit, counted(in.ends, c.send(items[0])));
    goes_on = end.how(sent);
    if (sent) in.in[which].add(items[0]);
  } else if (kind == 1) {
    auto got = co_await within(limit, counted(in.ends, c.receive()));
    goes_on = end.how(got);
    if (got) in.out[which].add(*got);
  } else if (kind == 2) {
    auto n = co_await within(limit, counted(in.ends, c.send_batch(items)));
    goes_on = end.how(n);
    for (std::size_t i = 0; n && i < *n; ++i) in.in[which].add(items[i]);
  } else if (kind == 3) {
    auto n = co_await within(limit, counted(in.ends, c.receive_batch(items)));
    goes_on = end.how(n);
    for (std::size_t i = 0; n && i < *n; ++i) in.out[which].add(items[i]);
  } else if (kind == 4) {
    auto got = co_await within(
        limit, counted(in.ends, select(c.send(items[0]), in.channels[other].receive(), stopped(in.quit))));
    goes_on = end.how(got);
    if (!got) co_return;
    if (got->index() == 0 && got->template get<0>()) in.in[which].add(items[0]);
    if (got->index() == 1 && got->template get<1>()) in.out[other].add(*got->template get<1>());
  } else {
    auto got = co_await within(limit, counted(in.ends, select(c.receive(), in.permits.acquire(), in.bell.wait())));
    goes_on = end.how(got);
    if (got && got->index() == 0 && got->template get<0>()) in.out[which].add(*got->template get<0>());
    if (got && got->index() == 1) room::visit here(in.permitted, 1);
  }
}

// Makes a job; or takes one if there is one, or if it is told of one in time.
template <class Body>
Body use_condition(market& in, detail::random_engine& random, bool patient, bool& goes_on) {
  const duration limit = limit_of(random, patient);
  const bool makes = !patient && random.below(3) == 0;
  wait_outcome locks(in.ends);
  auto held = co_await within(limit, counted(in.ends, in.guard.lock()));
  goes_on = locks.how(held);
  if (!held) co_return;
  if (makes) {
    in.add_job();
    co_return;
  }
  while (in.jobs == 0 && !in.over) {
    wait_outcome end(in.ends);
    auto told = co_await within(limit, counted(in.ends, in.more.wait(*held)));
    goes_on = end.how(told);
    if (!told) co_return;
    ++in.told;
  }
  if (in.jobs == 0) co_return;
  --in.jobs;
  ++in.done;
}

template <class Body>
Body wait_for_bell(market& in, detail::random_engine& random, bool patient, bool& goes_on) {
  const duration limit = limit_of(random, patient);
  wait_outcome end(in.ends);
  if (random.below(2) == 0) {
    auto rung = co_await within(limit, counted(in.ends, in.bell.wait()));
    goes_on = end.how(rung);
  } else {
    auto told = co_await within(limit, counted(in.ends, stopped(in.quit)));
    goes_on = end.how(told);
  }
}

// One of the above.
template <class Body>
Body one_wait_of(market& in, detail::random_engine& random, bool patient, bool& goes_on) {
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2: return use_locks<Body>(in, random, patient, goes_on);
    case 3:
    case 4:
    case 5: return use_channel<Body>(in, random, patient, goes_on);
    case 6:
    case 7:
    case 8: return use_condition<Body>(in, random, patient, goes_on);
    default: return wait_for_bell<Body>(in, random, patient, goes_on);
  }
}

void trade_in_fiber(market& in, std::uint64_t seed, bool patient) {
  detail::random_engine random(seed);
  bool goes_on = true;
  for (int i = 0; i < waits_of_each && goes_on; ++i)
    one_wait_of<direct_body<by_fiber>>(in, random, patient, goes_on).get();
}
task<> trade_in_task(market& in, std::uint64_t seed, bool patient) {
  detail::random_engine random(seed);
  bool goes_on = true;
  for (int i = 0; i < waits_of_each && goes_on; ++i) co_await one_wait_of<task<>>(in, random, patient, goes_on);
}

// The thread of the test: takes part, and ends waits of others.
void disturb(market& in, std::vector<join_handle<>>& handles, detail::random_engine& random) {
  for (int i = 0; i < 60; ++i) {
    const std::size_t which = random.below(3);
    auto& victim = handles[steady + random.below(crowd - steady)];
    switch (random.below(12)) {
      case 0:
      case 10: victim.cancel(); break;
      case 1:
      case 11: victim.kill(); break;
      case 2: in.bell.set(); break;
      case 3: in.bell.reset(); break;
      case 4:
      case 5: {
        auto held = sync_wait(in.guard.lock());
        in.add_job();
        break;
      }
      case 6: in.notified += static_cast<long>(in.more.notify_all()); break;
      case 7: in.notified += in.more.notify_one() ? 1 : 0; break;
      case 8: {
        const std::uint64_t item = random();
        if (in.channels[which].try_send(item)) in.in[which].add(item);
        break;
      }
      default: {
        if (auto got = in.channels[which].try_receive()) in.out[which].add(*got);
      }
    }
  }
}

void end_all(market& in, std::vector<join_handle<>>& handles) {
  for (auto& one : in.channels) one.close();
  in.quit.request();
  {
    auto held = sync_wait(in.guard.lock());
    in.over = true;
    in.notified += static_cast<long>(in.more.notify_all());
  }
  in.bell.set();
  for (auto& one : handles) {
    while (!one.done()) std::this_thread::yield();
  }
}

void check_books(market& in) {
  for (const room* one : {&in.locked, &in.permitted, &in.shelved, &in.holding_token}) REQUIRE_FALSE(one->broken());
  REQUIRE(static_cast<bool>(in.lock.try_lock()));
  REQUIRE(in.permits.available() == 3);
  REQUIRE(static_cast<bool>(in.shelf.try_lock()));
  REQUIRE(in.token.try_wait());
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    while (auto left = in.channels[i].try_receive()) in.out[i].add(*left);
    REQUIRE(in.in[i].number == in.out[i].number);
    REQUIRE(in.in[i].sum == in.out[i].sum);
  }
  REQUIRE(static_cast<bool>(in.guard.try_lock()));
  REQUIRE(in.made == in.done + in.jobs);
  REQUIRE(in.notified == in.told);
  REQUIRE(in.ends.begun == in.ends.ended());
}

// In one of eight the runtime is destroyed under what still waits.
void one_round(std::optional<hocket::runtime>& rt, std::size_t workers, statistics& ends,
               detail::random_engine& random) {
  if (!rt) rt.emplace(runtime_options{.workers = workers});
  market in(ends);
  std::vector<join_handle<>> handles;
  for (std::size_t i = 0; i < crowd; ++i) {
    const std::uint64_t own = random();
    if (i % 2 == 0) handles.push_back(spawn(*rt, trade_in_fiber, std::ref(in), own, i < steady));
    else handles.push_back(spawn(*rt, trade_in_task, std::ref(in), own, i < steady));
  }
  disturb(in, handles, random);
  if (random.below(8) == 0) {
    const long before = ends.unwound;
    rt.reset();
    ends.unwound_by_the_end += ends.unwound - before;
  } else {
    end_all(in, handles);
  }
  for (auto& one : handles) REQUIRE(one.done());
  check_books(in);
}

}  // namespace

TEST_CASE(
    "faults 12, 13, 14, 15, 16, 19: in a million contended waits no permit, item or wake-up is lost, or given twice") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  statistics ends;
  int part = 0;
  for (const std::size_t workers : {1u, 2u, 4u}) {
    CAPTURE(workers);
    std::optional<hocket::runtime> rt;
    for (++part; ends.contended < races * part / 3;) one_round(rt, workers, ends, random);
  }
  MESSAGE("of ", ends.begun.load(), " waits ", ends.contended.load(), " were contended; granted ", ends.granted.load(),
          ", cancelled ", ends.cancelled.load(), ", timed out ", ends.timed_out.load(), ", closed ", ends.closed.load(),
          ", unwound ", ends.unwound.load(), ", of them by the end of the runtime ", ends.unwound_by_the_end);
  CHECK(ends.unwound_by_the_end > 0);
  CHECK(ends.contended >= races);
  for (auto* each : {&ends.granted, &ends.cancelled, &ends.timed_out, &ends.closed, &ends.unwound}) CHECK(*each > 0);
}
