#pragma once
// The part of the page `tasks` that every kind of task in C++ has. The unit is one task.
//
//   await_int, await_string    create a task, await it, destroy it; it gives a value (values.hpp) and ends at once.
//                              n = 1: one at a time. Else all n are created, then awaited in a random order
//   nested_int, nested_string  a chain of n tasks, each of which creates and awaits the next one
//   throw                      a chain of n tasks, the last of which throws, through all of them: the unit is the whole
//   frame_bytes                resident memory for each of n tasks that were created
//
// A system describes its tasks by a class with
//   template <class T> using task = ...;
//   using root = ...;                       a task that gives a std::uint64_t and awaits the others
//   static std::uint64_t run(root)          runs it to its end
//   static decltype(auto) awaited(task&)    what stands behind co_await
//   static decltype(auto) passing(task&)    the same in a task that an exception is to pass; without it no `throw`
#include <optional>

#include "tasks/values.hpp"

namespace lab {

template <class Kind, class T>
using task_of = typename Kind::template task<T>;

template <class Kind, class T>
[[gnu::noinline]] task_of<Kind, T> leaf(std::uint64_t i) {
  co_return value<T>::made(i);
}

template <class Kind, class T>
typename Kind::root one_at_a_time(std::uint64_t n, std::uint64_t k) {
  std::uint64_t sum = 0;
  for (; k; --k) {
    for (std::uint64_t i = 0; i < n; ++i) {
      auto one = leaf<Kind, T>(i);
      sum += value<T>::number(co_await Kind::awaited(one));
    }
  }
  co_return sum;
}

template <class Kind, class T>
typename Kind::root drained(slots<task_of<Kind, T>>& live, std::uint64_t n) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    sum += value<T>::number(co_await Kind::awaited(live[i]));
    live.drop(i);
  }
  co_return sum;
}

template <class Kind, class T>
typename Kind::root all_live(slots<task_of<Kind, T>>& live, const std::vector<std::uint32_t>& order, std::uint64_t k) {
  std::uint64_t sum = 0;
  for (; k; --k) {
    for (std::uint64_t i = 0; i < order.size(); ++i) live.put(i, [i] { return leaf<Kind, T>(i); });
    for (std::uint32_t i : order) {
      sum += value<T>::number(co_await Kind::awaited(live[i]));
      live.drop(i);
    }
  }
  co_return sum;
}

template <class Kind, class T>
[[gnu::noinline]] task_of<Kind, T> nested(std::uint64_t depth) {
  if (depth == 1) co_return value<T>::made(1);
  auto below = nested<Kind, T>(depth - 1);
  co_return co_await Kind::awaited(below);
}

template <class Kind, class T>
typename Kind::root chains(std::uint64_t depth, std::uint64_t k) {
  std::uint64_t sum = 0;
  for (; k; --k) {
    auto one = nested<Kind, T>(depth);
    sum += value<T>::number(co_await Kind::awaited(one));
  }
  co_return sum;
}

struct thrown {
  int why;
};

template <class Kind>
[[gnu::noinline]] task_of<Kind, int> throwing(std::uint64_t depth) {
  if (depth == 1) throw thrown{1};
  auto below = throwing<Kind>(depth - 1);
  co_return co_await Kind::passing(below);
}

template <class Kind>
typename Kind::root throws(std::uint64_t depth, std::uint64_t k) {
  std::uint64_t caught = 0;
  for (; k; --k) {
    auto one = throwing<Kind>(depth);
    try {
      static_cast<void>(co_await Kind::awaited(one));
    } catch (const thrown& what) {
      caught += static_cast<std::uint64_t>(what.why);
    }
  }
  co_return caught;
}

template <class Kind>
class awaits_page {
 public:
  awaits_page(const char* system, const request& r) : system_{system}, r_{r} {}

  // Nothing if the workload is not one of these.
  std::optional<int> run() {
    if (r_.workload == "await_int") return awaits<int>("await_int");
    if (r_.workload == "await_string") return awaits<std::string>("await_string");
    if (r_.workload == "nested_int") return nests<int>("nested_int");
    if (r_.workload == "nested_string") return nests<std::string>("nested_string");
    if (r_.workload == "frame_bytes") return bytes();
    return throwing();
  }
  std::optional<int> throwing() {
    if constexpr (requires(task_of<Kind, int>& t) { Kind::passing(t); }) {
      if (r_.workload == "throw") {
        return report("throw", 1, 1, [this](std::uint64_t k) { return throws<Kind>(r_.n, k); });
      }
    }
    return {};
  }

 private:
  // `root(k)` makes the task that does k rounds, each of which adds `expected` to what it gives.
  template <class Root>
  int report(const char* workload, std::uint64_t expected, std::size_t units, Root&& root) {
    double ns = median_of_rounds(r_.budget_ns, [&](std::size_t k) {
      std::uint64_t sum = 0;
      double took = timed([&] { sum = Kind::run(root(k)); });
      if (sum != expected * k) fail("the tasks gave another sum");
      return took;
    });
    emit(system_, workload, r_.n, "ns", ns / static_cast<double>(units));
    return 0;
  }

  template <class T>
  int awaits(const char* workload) {
    constexpr std::uint64_t some = 64;
    if (r_.n == 1) {
      return report(workload, sum_of_values<T>(some), some,
                    [](std::uint64_t k) { return one_at_a_time<Kind, T>(some, k); });
    }
    slots<task_of<Kind, T>> live{r_.n};
    std::vector<std::uint32_t> order = random_order(r_.n);
    return report(workload, sum_of_values<T>(r_.n), r_.n,
                  [&](std::uint64_t k) { return all_live<Kind, T>(live, order, k); });
  }

  template <class T>
  int nests(const char* workload) {
    return report(workload, value<T>::number(value<T>::made(1)), r_.n,
                  [this](std::uint64_t k) { return chains<Kind, T>(r_.n, k); });
  }

  int bytes() {
    slots<task_of<Kind, int>> live{r_.n};
    double before = resident_bytes();
    for (std::uint64_t i = 0; i < r_.n; ++i) live.put(i, [i] { return leaf<Kind, int>(i); });
    double grown = std::max(0.0, resident_bytes() - before);
    if (Kind::run(drained<Kind, int>(live, r_.n)) != sum_of_values<int>(r_.n)) fail("the tasks gave another sum");
    emit(system_, "frame_bytes", r_.n, "B", grown / static_cast<double>(r_.n));
    return 0;
  }

  const char* system_;
  request r_;
};

}  // namespace lab
