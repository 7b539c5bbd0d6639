// A generator in the style of the C++ reference's coroutine page, which most people meet first: the value and a
// std::exception_ptr in the promise, a bool conversion that steps on when needed, and a call operator that takes the
// value.
#include <coroutine>
#include <exception>

#include "fibonacci.hpp"

namespace {

template <class T>
class generator {
 public:
  struct promise_type {
    T value;
    std::exception_ptr exception;

    generator get_return_object() { return generator{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void unhandled_exception() { exception = std::current_exception(); }
    template <std::convertible_to<T> From>
    std::suspend_always yield_value(From&& from) {
      value = std::forward<From>(from);
      return {};
    }
    void return_void() {}
  };

  explicit generator(std::coroutine_handle<promise_type> handle) : handle_{handle} {}
  generator(const generator&) = delete;
  ~generator() { handle_.destroy(); }

  explicit operator bool() {
    fill();
    return !handle_.done();
  }
  T operator()() {
    fill();
    full_ = false;
    return std::move(handle_.promise().value);
  }

 private:
  void fill() {
    if (full_) return;
    handle_();
    if (handle_.promise().exception) std::rethrow_exception(handle_.promise().exception);
    full_ = true;
  }

  std::coroutine_handle<promise_type> handle_;
  bool full_ = false;
};

struct reference_style {
  using type = generator<std::uint64_t>;

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
  static std::uint64_t next(type& g) { return g(); }
  static bool ended(type& g) { return !g; }
  static std::uint64_t sum(type&& g) {
    std::uint64_t sum = 0;
    while (g) sum += g();
    return sum;
  }
};

}  // namespace

int main(int argc, char** argv) { return lab::run_generators<reference_style>(LAB_SYSTEM, lab::parse(argc, argv)); }
