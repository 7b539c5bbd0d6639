// The table of document 004, row by row, in one program. The file is compiled with -O2 (hocket-O2-shared and
// hocket-O2-unsync) and with -O3 (hocket-O3-unsync); the library once, with -O2: what is not in line is the same. Where
// the document has "atomics and locks off", here are the primitives of one thread, hocket::unsync.
//
//   document 004                       here
//   coroutine_context                  coroutine, on stacks of a pool        context_create, context_switch
//   task                               a fiber that was spawned on a loop    fiber_create, fiber_switch
//   task_future                        a task: awaited, or spawned           task_create_*, spawn_create_*
//   task_future, generator_future      a spawned task and a completion       task_switch_*
//   callable_future                    eager_task                            eager_create_*
//   callable_future, generator_future  an eager_task and a completion        eager_switch_*
//   light generator                    generator: one value                  generator_switch_*
//   generator_future, alone            a completion                          completion_create
//   channel                            n of eager_task, or of fibers, and    channel_switch_*, channel_fiber_switch_*
//                                      one completion for all
//
// How a switch is made by completions, crowd.hpp and audience.hpp say; it is there and back, as in the document.
// Creation is that of the second time: frames and stacks are in hocket's pools, as there. An eager_task comes to its
// first wait within its creation.
#include <hocket/coro/generator.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/stack/stack_pool.hpp>

#include <optional>

#include "audience.hpp"
#include "tasks/awaits.hpp"

namespace {

using lab::crowd;
using lab::eager;
using lab::spawned_task;

struct spawned_fiber {
  template <class Station>
  static void body(Station& mine) {
    for (;;) {
      auto got = hocket::await(mine.wait());
      if (!got) return;
      mine.take(*got);
    }
  }
  template <class Station>
  static auto start(hocket::loop& on, Station& mine) {
    return hocket::spawn(on, {.stack_size = 65536}, &body<Station>, std::ref(mine));
  }
};

template <class Strength>
class table {
  template <class T>
  using futures = lab::stations<lab::future_gate<T, Strength>>;
  template <class T>
  using channel = lab::audience<T, Strength>;

 public:
  table(const char* system, const lab::request& r) : system_{system}, r_{r} {}

  int run() {
    contexts();
    both<spawned_fiber, futures<int>>("fiber_create", "fiber_switch");
    tasks<int>("task_create_int");
    tasks<std::string>("task_create_string");
    both<spawned_task, futures<int>>("spawn_create_int", "task_switch_int");
    both<spawned_task, futures<std::string>>("spawn_create_string", "task_switch_string");
    both<eager, futures<int>>("eager_create_int", "eager_switch_int");
    both<eager, futures<std::string>>("eager_create_string", "eager_switch_string");
    completions("completion_create");
    generators<int>("generator_switch_int");
    generators<std::string>("generator_switch_string");
    both<eager, channel<int>>(nullptr, "channel_switch_int");
    both<eager, channel<std::string>>(nullptr, "channel_switch_string");
    both<spawned_fiber, channel<int>>(nullptr, "channel_fiber_switch_int");
    both<spawned_fiber, channel<std::string>>(nullptr, "channel_fiber_switch_string");
    return 0;
  }

 private:
  static constexpr std::size_t creations_from = 100;  // one is created too soon for a clock

  void emit(const char* workload, double ns) { lab::emit(system_, workload, r_.n, "ns", ns); }

  // `create()` gives the time of one creation; the first one, which is cold, is not counted.
  template <class F>
  void creations(const char* workload, F&& create) {
    if (!workload || r_.n < creations_from) return;
    create();
    std::vector<double> values;
    double end = lab::now_ns() + r_.budget_ns;
    while (values.size() < 3 || (values.size() < 99 && lab::now_ns() < end)) values.push_back(create());
    emit(workload, lab::median(std::move(values)));
  }
  template <class F>
  double timed_each(F&& f) {
    double ns = lab::timed([&] {
      for (std::size_t i = 0; i < r_.n; ++i) f(i);
    });
    return ns / static_cast<double>(r_.n);
  }
  // `rounds(k)`: k times each of n in a random order.
  template <class F>
  void switches(const char* workload, std::size_t units, F&& rounds) {
    emit(workload, lab::median_of_rounds(r_.budget_ns, rounds) / static_cast<double>(units));
  }

  template <class Kind, class Places>
  void both(const char* creation, const char* trip) {
    crowd<Kind, Places> all{r_.n};
    creations(creation, [&] { return all.creation(); });
    switches(trip, all.units(), [&](std::size_t k) { return all.rounds(k); });
  }

  template <class T>
  void tasks(const char* workload) {
    using kind = awaited_kind;
    lab::slots<hocket::task<T>> live{r_.n};
    creations(workload, [&] {
      double ns = timed_each([&](std::size_t i) { live.put(i, [i] { return lab::leaf<kind, T>(i); }); });
      if (hocket::sync_wait(lab::drained<kind, T>(live, r_.n)) != lab::sum_of_values<T>(r_.n)) lab::fail("another sum");
      return ns;
    });
  }
  struct awaited_kind {
    template <class T>
    using task = hocket::task<T>;
    using root = hocket::task<std::uint64_t>;
    template <class T>
    static task<T>&& awaited(task<T>& t) {
      return std::move(t);
    }
  };

  // One that is created, and has neither a value nor a waiter.
  void completions(const char* workload) {
    using completion = hocket::basic_completion<Strength, int, hocket::no_hooks>;
    lab::slots<completion> all{r_.n};
    creations(workload, [&] {
      double ns = timed_each([&](std::size_t i) { all.put(i, [] { return completion(); }); });
      for (std::size_t i = 0; i < r_.n; ++i) all.drop(i);
      return ns;
    });
  }

  void contexts() {
    using coroutine = hocket::coroutine<void()>;
    hocket::stack_pool stacks{{.stack_size = 65536}};
    lab::slots<coroutine> all{r_.n};
    lab::slots<lab::line> lines{r_.n};
    std::vector<std::uint32_t> order = lab::random_order(r_.n);
    auto create = [&](std::size_t i) {
      all.put(i, [&] {
        return coroutine{stacks, [&mine = lines[i]](auto& self) {
                           while (!mine.stop) {
                             ++mine.count;
                             self.yield();
                           }
                         }};
      });
    };
    std::uint64_t expected = 0;
    auto end = [&](std::size_t i) {
      if (lines[i].count != expected) lab::fail("a coroutine's counter does not show the expected activations");
      lines[i].stop = true;
      all[i].resume();
      all.drop(i);
    };
    auto create_all = [&] {
      for (std::size_t i = 0; i < r_.n; ++i) lines[i] = lab::line{0, false};
      return timed_each(create);
    };
    creations("context_create", [&] {
      double ns = create_all();
      for (std::size_t i = 0; i < r_.n; ++i) end(i);
      return ns;
    });
    create_all();
    switches("context_switch", r_.n, [&](std::size_t k) {
      expected += k;
      return lab::timed([&] {
        for (; k; --k) {
          for (std::uint32_t i : order) all[i].resume();
        }
      });
    });
    for (std::size_t i = 0; i < r_.n; ++i) end(i);
  }

  template <class T>
  [[gnu::noinline]] static hocket::generator<T> values() {
    for (std::uint64_t i = 0;; ++i) co_yield lab::value<T>::made(i);
  }
  template <class T>
  void generators(const char* workload) {
    struct read {
      hocket::generator<T> values;
      typename hocket::generator<T>::iterator at;
      explicit read(hocket::generator<T> from) : values{std::move(from)}, at{values.begin()} {}
    };
    lab::slots<read> all{r_.n};
    for (std::size_t i = 0; i < r_.n; ++i) all.put(i, [] { return read{values<T>()}; });
    std::vector<std::uint32_t> order = lab::random_order(r_.n);
    std::uint64_t next = 0;  // of each
    switches(workload, r_.n, [&](std::size_t k) {
      std::uint64_t sum = 0;
      double ns = lab::timed([&] {
        for (std::size_t j = 0; j < k; ++j) {
          for (std::uint32_t i : order) {
            sum += lab::value<T>::number(*all[i].at);
            ++all[i].at;
          }
        }
      });
      if (sum != r_.n * (lab::sum_of_values<T>(next + k) - lab::sum_of_values<T>(next))) lab::fail("another sum");
      next += k;
      return ns;
    });
    for (std::size_t i = 0; i < r_.n; ++i) all.drop(i);
  }

  const char* system_;
  lab::request r_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) lab::fail("usage: subject <system> document_004 <n> <stack bytes> <budget ms>");
  lab::request r = lab::parse(argc - 1, argv + 1);
  if (r.workload != "document_004") lab::fail("this subject does not know that workload");
#ifndef LAB_UNSYNC
  if (!std::string_view(argv[1]).ends_with("-unsync")) return table<hocket::strength::shared>{argv[1], r}.run();
#endif
  return table<hocket::strength::unsync>{argv[1], r}.run();
}
