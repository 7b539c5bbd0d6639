// The promise throws before the coroutine has begun.
#include "support.hpp"

struct refused {
  struct promise_type {
    static void* operator new(std::size_t bytes) {
      ++frames;
      return ::operator new(bytes);
    }
    static void operator delete(void* memory, std::size_t) {
      --frames;
      ::operator delete(memory);
    }
    refused get_return_object() { return {}; }
    std::suspend_never initial_suspend() { throw 3; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
};
refused begin(tracked) { co_return; }

task<int> pattern() {
  try {
    begin(tracked(1));
  } catch (int thrown) {
    co_return thrown;
  }
  co_return 0;
}

int main() { return verdict(pattern, 3); }
