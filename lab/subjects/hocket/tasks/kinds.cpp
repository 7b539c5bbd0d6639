// The other tasks of hocket, by the same workloads as its task.
//
//   hocket-eager      eager_task: it has run when it is awaited
//   hocket-shared     shared_task: its body is a coroutine of its own, posted to the loop by the first await
//   hocket-propagate  task, each of which awaits the next one by propagate()
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>

#include "subjects.hpp"
#include "tasks/awaits.hpp"

namespace {

struct on_a_loop {
  using root = hocket::task<std::uint64_t>;

  static std::uint64_t run(root body) {
    hocket::loop loop;
    std::uint64_t given = 0;
    hocket::spawn(loop, [&]() -> hocket::task<void> { given = co_await std::move(body); });
    loop.run();
    return given;
  }
};

struct eager : on_a_loop {
  template <class T>
  using task = hocket::eager_task<T>;

  template <class T>
  static task<T>&& awaited(task<T>& t) {
    return std::move(t);
  }
};

struct shared : on_a_loop {
  template <class T>
  using task = hocket::shared_task<T>;

  template <class T>
  static task<T>& awaited(task<T>& t) {
    return t;
  }
};

struct propagating : on_a_loop {
  template <class T>
  using task = hocket::task<T>;

  template <class T>
  static task<T>&& awaited(task<T>& t) {
    return std::move(t);
  }
  template <class T>
  static auto passing(task<T>& t) {
    return std::move(t).propagate();
  }
};

std::optional<int> measure(const char* system, const lab::request& r) {
  std::string_view name = system;
  if (name == "hocket-eager") return lab::awaits_page<eager>{system, r}.run();
  if (name == "hocket-shared") return lab::awaits_page<shared>{system, r}.run();
  return lab::awaits_page<propagating>{system, r}.throwing();
}

}  // namespace

int lab::kinds(const char* system, const request& r) {
  if (auto status = measure(system, r)) return *status;
  fail("this subject does not know that workload");
}
