// The floor of stackless coroutines: the smallest promise that the language allows, resumed through its bare handle,
// frames from global operator new. In the workload `oneshot_trip` a trip is one resume and one suspension, and nothing
// is sent.
#include <coroutine>
#include <exception>

#include "tasks/values.hpp"

namespace {

struct bare {
  struct promise_type {
    bare get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
  std::coroutine_handle<> handle;
};

[[gnu::noinline]] bare body(lab::line& mine) {
  while (!mine.stop) {
    ++mine.count;
    co_await std::suspend_always{};
  }
}

class handles {
 public:
  handles(std::size_t n, std::size_t) : handles_{n} {}

  void create(std::size_t i, lab::line& mine) { handles_[i] = body(mine).handle; }
  void resume(std::size_t i) { handles_[i].resume(); }
  void finish(std::size_t i) {
    resume(i);
    if (!handles_[i].done()) lab::fail("a coroutine went on after its end");
  }
  void drop(std::size_t i) { handles_[i].destroy(); }

 private:
  lab::slots<std::coroutine_handle<>> handles_;
};

int trips(const lab::request& r) {
  lab::slots<lab::line> lines{r.n};
  handles all{r.n, r.stack};
  std::vector<std::uint32_t> order = lab::random_order(r.n);
  for (std::size_t i = 0; i < r.n; ++i) all.create(i, lines[i] = lab::line{0, false});
  std::uint64_t expected = 0;
  double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    expected += k;
    return lab::timed([&] {
      for (; k; --k) {
        for (std::uint32_t i : order) all.resume(i);
      }
    });
  });
  for (std::size_t i = 0; i < r.n; ++i) {
    if (lines[i].count != expected) lab::fail("a coroutine's counter does not show the expected activations");
    lines[i].stop = true;
    all.finish(i);
    all.drop(i);
  }
  lab::emit(LAB_SYSTEM, "oneshot_trip", r.n, "ns", ns / static_cast<double>(r.n));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (r.workload == "oneshot_trip") return trips(r);
  return lab::run_switch<handles>(LAB_SYSTEM, r);
}
