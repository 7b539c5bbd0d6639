// The floor of stackless coroutines: the smallest promise that the language allows, resumed through its bare handle,
// frames from global operator new.
#include <coroutine>
#include <exception>

#include "harness.hpp"

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

}  // namespace

int main(int argc, char** argv) { return lab::run_switch<handles>(LAB_SYSTEM, lab::parse(argc, argv)); }
