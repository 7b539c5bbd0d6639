// hocket on the page `manager`, with one kind of coroutine: fibers, or tasks (LAB_TASK). The first argument is the
// system: hocket-bare-* spawns on a loop; hocket-managed-* on a task_manager, which goes by the loop's time;
// hocket-ticked-* on one that goes by a clock of the program's own. hocket-reply and hocket-reply-ticked are replies
// that are expected, and have a deadline each.
#include <hocket/manager/task_manager.hpp>
#include <hocket/sync/event.hpp>

#include <optional>

#include "../kind.hpp"
#include "manager/manager.hpp"

namespace {

using lab::coroutine;

constexpr std::chrono::milliseconds between_ticks{1};

struct world {
  explicit world(std::string_view system, const lab::request& request)
      : r(request),
        ticked(system.find("ticked") != std::string_view::npos),
        replies(system.find("reply") != std::string_view::npos) {
    if (system.find("bare") == std::string_view::npos) {
      tm.emplace(lp, hocket::manager_options{.clock = ticked ? &time : nullptr});
    }
  }

  // Runs the body as a coroutine of the loop, to its end.
  template <class Body>
  void run(Body body) {
    auto handle = hocket::spawn(lp, std::ref(body));
    lp.run_until(handle);
  }

  template <class... Call>
  hocket::task_id spawn(hocket::task_group group, Call&&... call) {
    if (tm) return hocket::spawn(*tm, {.group = group, .stack_size = r.stack}, std::forward<Call>(call)...).id();
    static_cast<void>(hocket::spawn(lp, {.stack_size = r.stack}, std::forward<Call>(call)...));
    return hocket::task_id::none;
  }

  const lab::request r;
  const bool ticked, replies;
  hocket::manual_clock time;
  hocket::loop lp;
  hocket::event never;
  std::size_t waiting = 0, ended = 0, cancelled = 0;
  std::optional<hocket::task_manager> tm;
};

coroutine wait(world& w) {
  ++w.waiting;
  auto woken = LAB_AWAIT(w.never.wait());
  w.cancelled += !woken && woken.error() == std::errc::operation_canceled;
  --w.waiting;
  LAB_END;
}

coroutine count(world& w) {
  ++w.ended;
  LAB_END;
}

// `place(i)` says where the id of number i is kept. All wait when it returns.
template <class Place>
void fill(world& w, std::size_t count, hocket::task_group group, Place place) {
  const std::size_t all = w.waiting + count;
  w.run([&]() -> coroutine {
    for (std::size_t i = 0; i < count; ++i) {
      place(i) = w.spawn(group, wait, std::ref(w));
      if (i % lab::at_a_time == 0) LAB_AWAIT(hocket::yield());
    }
    while (w.waiting != all) LAB_AWAIT(hocket::yield());
    LAB_END;
  });
}

void add(const char* system, world& w) {
  hocket::task_id dropped;
  fill(w, w.r.n, 0, [&](std::size_t) -> hocket::task_id& { return dropped; });
  const double ns = lab::median_of_rounds(w.r.budget_ns, [&](std::size_t k) {
    w.ended = 0;
    double took = 0;
    w.run([&]() -> coroutine {
      const double begin = lab::now_ns();
      for (std::size_t wanted = lab::at_a_time; wanted <= k * lab::at_a_time; wanted += lab::at_a_time) {
        for (std::size_t i = 0; i < lab::at_a_time; ++i) w.spawn(0, count, std::ref(w));
        while (w.ended != wanted) LAB_AWAIT(hocket::yield());
      }
      took = lab::now_ns() - begin;
      LAB_END;
    });
    return took;
  });
  lab::emit(system, "manager_add", w.r.n, "ns", ns / lab::at_a_time);
}

void find(const char* system, world& w, const std::vector<hocket::task_id>& ids) {
  lab::places order(w.r.n);
  const double ns = lab::median_of_rounds(w.r.budget_ns, [&](std::size_t k) {
    std::size_t right = 0;
    const double took = lab::timed([&] {
      for (std::size_t i = 0; i < k; ++i) {
        const hocket::task_id id = ids[order.next()];
        const auto found = w.tm->find(id);
        right += found && found->id == id;
      }
    });
    if (right != k) lab::fail("an id was not found");
    return took;
  });
  lab::emit(system, "manager_find", w.r.n, "ns", ns);
}

void move_deadlines(const char* system, world& w, const std::vector<hocket::task_id>& ids) {
  lab::places order(w.r.n);
  std::size_t number = 0;
  const double ns = lab::median_of_rounds(w.r.budget_ns, [&](std::size_t k) {
    std::size_t right = 0;
    double took = 0;
    w.run([&]() -> coroutine {
      const double begin = lab::now_ns();
      for (std::size_t i = 0; i < k; ++i) right += !w.tm->set_deadline(ids[order.next()], lab::far(number++));
      took = lab::now_ns() - begin;
      LAB_END;
    });
    if (right != k) lab::fail("a deadline was not set");
    return took;
  });
  lab::emit(system, "manager_deadline", w.r.n, "ns", ns);
}

void cancel(const char* system, world& w, std::vector<hocket::task_id>& ids) {
  lab::places order(w.r.n);
  const std::size_t some = std::min(w.r.n, lab::cancelled_at_a_time);
  std::vector<std::size_t> chosen(some);
  double took = 0;
  const auto cancel_some = [&]() -> coroutine {
    for (auto& place : chosen) place = order.next();
    const double begin = lab::now_ns();
    for (std::size_t place : chosen) {
      if (w.tm->cancel(ids[place])) lab::fail("an id was not known");
    }
    while (w.tm->size() != w.r.n - some) LAB_AWAIT(hocket::yield());
    took += lab::now_ns() - begin;
    LAB_END;
  };
  const double ns = lab::median_of_rounds(w.r.budget_ns, [&](std::size_t k) {
    took = 0;
    w.cancelled = 0;
    for (std::size_t i = 0; i < k; ++i) {
      w.run(std::ref(cancel_some));
      fill(w, some, 0, [&](std::size_t number) -> hocket::task_id& { return ids[chosen[number]]; });
    }
    if (w.cancelled != k * some) lab::fail("a coroutine did not end cancelled");
    return took;
  });
  lab::emit(system, "manager_cancel", w.r.n, "ns", ns / static_cast<double>(some));
}

void by_id(const char* system, world& w) {
  std::vector<hocket::task_id> ids(w.r.n);
  fill(w, w.r.n, 0, [&](std::size_t i) -> hocket::task_id& { return ids[i]; });
  find(system, w, ids);
  move_deadlines(system, w, ids);
  cancel(system, w, ids);
}

using reply = hocket::expectation<std::uint64_t>;

// Gives k replies, whose ids it finds in turn.
coroutine give(world& w, std::size_t k, hocket::task_id& wanted) {
  for (std::uint64_t i = 0; i < k; ++i) {
    if (w.tm->complete(wanted, i)) lab::fail("nobody expected the reply");
    LAB_AWAIT(hocket::yield());
  }
  LAB_END;
}

// `begin(id)` sees to it that number i will come.
template <class Begin>
coroutine expect(world& w, std::size_t k, double& took, Begin begin) {
  const double began = lab::now_ns();
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < k; ++i) {
    reply one = w.tm->expect<std::uint64_t>();
    begin(one.id(), i);
    auto got = LAB_AWAIT(one.wait());
    if (got) sum += *got;
  }
  took = lab::now_ns() - began;
  if (sum != k * (k - 1) / 2) lab::fail("the replies were others");
  LAB_END;
}

void replies(const char* system, world& w) {
  std::vector<reply> others;
  for (std::size_t i = 0; i < w.r.n; ++i) others.push_back(w.tm->expect<std::uint64_t>());
  const auto measure = [&](const char* metric, auto begin, bool other) {
    hocket::task_id wanted{};
    const double ns = lab::median_of_rounds(w.r.budget_ns, [&](std::size_t k) {
      double took = 0;
      const auto give_all = [&]() -> coroutine { return give(w, k, wanted); };
      const auto expect_all = [&]() -> coroutine {
        return expect(w, k, took, [&](hocket::task_id id, std::uint64_t i) { begin(wanted = id, i); });
      };
      w.run([&]() -> coroutine {
        auto first = hocket::spawn(w.lp, std::ref(expect_all));
        if (other) LAB_AWAIT(hocket::spawn(w.lp, std::ref(give_all)));
        LAB_AWAIT(first);
        LAB_END;
      });
      return took;
    });
    lab::emit(system, metric, w.r.n, "ns", ns);
  };
  measure(
      "manager_reply_ready",
      [&](hocket::task_id id, std::uint64_t i) {
        if (w.tm->complete(id, i)) lab::fail("nobody expected the reply");
      },
      false);
  measure("manager_reply_handover", [](hocket::task_id, std::uint64_t) {}, true);
}

// Until nothing is left.
void let_pass(world& w) {
  w.run([&]() -> coroutine {
    if (w.ticked) {
      while (w.tm->size() != 0) {
        w.time.advance(between_ticks);
        w.tm->tick();
        LAB_AWAIT(hocket::yield());
      }
    }
    auto joined = LAB_AWAIT(w.tm->join());
    if (!joined) lab::fail("the manager was not joined");
    LAB_END;
  });
}

template <bool InTurn>
double expire_once(world& w) {
  std::vector<hocket::task_id> ids(w.r.n);
  std::vector<reply> expected(w.replies ? w.r.n : 0);
  if (w.replies) {
    for (std::size_t i = 0; i < w.r.n; ++i) ids[i] = (expected[i] = w.tm->expect<std::uint64_t>()).id();
  } else {
    fill(w, w.r.n, 0, [&](std::size_t i) -> hocket::task_id& { return ids[i]; });
  }
  const std::size_t passed = w.tm->counts().timed_out + w.tm->counts().expired;
  const double before = lab::processor_ns();
  w.run([&]() -> coroutine {
    for (std::size_t i = 0; i < w.r.n; ++i) {
      if (w.tm->set_deadline(ids[i], lab::near(i, w.r.n, InTurn))) lab::fail("a deadline was not set");
    }
    LAB_END;
  });
  let_pass(w);
  const double took = lab::processor_ns() - before;
  const auto told = w.tm->counts();
  if (told.expired + told.cancelled + told.timed_out + told.returned - passed < w.r.n) lab::fail("not all has ended");
  return took;
}

template <bool InTurn>
void expire(const char* system, world& w) {
  expire_once<InTurn>(w);
  const char* const metric = InTurn ? "manager_expire_in_turn" : "manager_expire";
  lab::emit(system, metric, w.r.n, "ns", expire_once<InTurn>(w) / static_cast<double>(w.r.n));
}

void group(const char* system, world& w) {
  constexpr std::uint64_t player = 7;
  const double ns = lab::median_of_rounds(w.r.budget_ns, [&](std::size_t k) {
    double took = 0;
    w.cancelled = 0;
    for (std::size_t i = 0; i < k; ++i) {
      hocket::task_id dropped;
      fill(w, w.r.n, player, [&](std::size_t) -> hocket::task_id& { return dropped; });
      w.run([&]() -> coroutine {
        const double begin = lab::now_ns();
        if (w.tm->cancel_group(player) != w.r.n) lab::fail("not all of the group were asked");
        while (w.tm->size() != 0) LAB_AWAIT(hocket::yield());
        took += lab::now_ns() - begin;
        LAB_END;
      });
    }
    if (w.cancelled != k * w.r.n) lab::fail("a coroutine did not end cancelled");
    return took;
  });
  lab::emit(system, "manager_group", w.r.n, "ns", ns / static_cast<double>(w.r.n));
}

struct named {
  std::string_view workload;
  void (*measure)(const char* system, world& w);
};

constexpr named workloads[] = {
    {"manager_add", add},
    {"manager_by_id", by_id},
    {"manager_reply", replies},
    {"manager_expire", expire<false>},
    {"manager_expire_in_turn", expire<true>},
    {"manager_group", group},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) lab::fail("usage: subject <system> <workload> <n> <stack bytes> <budget ms>");
  const lab::request r = lab::parse(argc - 1, argv + 1);
  for (const named& one : workloads) {
    if (one.workload != r.workload) continue;
    world w(argv[1], r);
    one.measure(argv[1], w);
    lab::leave();
  }
  lab::fail("this subject does not know that workload");
}
