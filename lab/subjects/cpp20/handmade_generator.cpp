// The yardstick for generators: nothing but the value in the promise, no exception, no iterator; the consumer drives
// the handle itself. The ramp is noinline, as in every generator subject, so that no compiler elides one frame and
// keeps another.
#include <coroutine>
#include <exception>

#include "fibonacci.hpp"

namespace {

struct minimal {
  struct promise_type {
    std::uint64_t value;

    minimal get_return_object() noexcept { return minimal{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    std::suspend_always yield_value(std::uint64_t v) noexcept {
      value = v;
      return {};
    }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };

  explicit minimal(std::coroutine_handle<promise_type> h) noexcept : handle{h} {}
  minimal(const minimal&) = delete;
  ~minimal() { handle.destroy(); }

  std::coroutine_handle<promise_type> handle;
};

struct handmade {
  using type = minimal;

  [[gnu::noinline]] static type endless(lab::line& mine) {
    std::uint64_t a = 0, b = 1;
    while (!mine.stop) {
      ++mine.count;
      co_yield a;
      a = std::exchange(b, a + b);
    }
  }
  [[gnu::noinline]] static type first(std::uint64_t k) {
    std::uint64_t a = 0, b = 1;
    for (; k; --k) {
      co_yield a;
      a = std::exchange(b, a + b);
    }
  }
  static std::uint64_t next(type& g) {
    g.handle.resume();
    return g.handle.promise().value;
  }
  static bool ended(type& g) {
    g.handle.resume();
    return g.handle.done();
  }
  static std::uint64_t sum(type&& g) {
    std::uint64_t sum = 0;
    for (g.handle.resume(); !g.handle.done(); g.handle.resume()) sum += g.handle.promise().value;
    return sum;
  }
};

}  // namespace

int main(int argc, char** argv) { return lab::run_generators<handmade>(LAB_SYSTEM, lab::parse(argc, argv)); }
