// Document 000's program with a generator of its own: what a compiler does with a coroutine before any library comes
// in.
//
// usage: control [--frame]      the first ten Fibonacci numbers; or the bytes of the generator's frame
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

std::size_t frame_bytes = 0;

template <class T>
class sequence {
 public:
  struct promise_type {
    T value{};
    std::exception_ptr error;

    static void* operator new(std::size_t bytes) {
      frame_bytes = bytes;
      return ::operator new(bytes);
    }
    static void operator delete(void* frame) { ::operator delete(frame); }
    sequence get_return_object() { return sequence{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T given) {
      value = given;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };

  sequence(sequence&& other) noexcept : body_{std::exchange(other.body_, {})} {}
  sequence& operator=(sequence&&) = delete;
  ~sequence() {
    if (body_) body_.destroy();
  }

  bool advance() {
    body_.resume();
    if (body_.promise().error) std::rethrow_exception(body_.promise().error);
    return !body_.done();
  }
  const T& value() const { return body_.promise().value; }

 private:
  explicit sequence(std::coroutine_handle<promise_type> body) : body_{body} {}

  std::coroutine_handle<promise_type> body_;
};

sequence<std::uint64_t> fibonacci(unsigned count) {
  if (count > 94) throw std::runtime_error("more than 64 bits");
  std::uint64_t last = 1, next = 0;
  for (unsigned i = 0; i < count; ++i) {
    co_yield next;
    const std::uint64_t sum = last + next;
    last = next;
    next = sum;
  }
}

// Read at run time: else a compiler may make the frame a part of its caller's, and there is nothing to measure.
sequence<std::uint64_t> (*volatile entry)(unsigned) = fibonacci;

bool refuses(unsigned count) {
  try {
    auto numbers = entry(count);
    numbers.advance();
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

int main(int arguments, char** values) {
  auto numbers = entry(10);
  if (arguments > 1 && std::string_view(values[1]) == "--frame") {
    std::cout << frame_bytes << '\n';
    return 0;
  }
  for (int n = 0; numbers.advance(); ++n) std::cout << "fib(" << n << ")=" << numbers.value() << '\n';
  return refuses(95) ? 0 : 1;
}
