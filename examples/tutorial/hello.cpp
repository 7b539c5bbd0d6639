#include <hocket/hocket.hpp>
#include <cstdio>

using namespace hocket;

task<> sing(const char* voice) {
  for (int bar = 1; bar <= 3; ++bar) {
    std::printf("%s, bar %d\n", voice, bar);
    co_await yield();
  }
}

task<int> hello() {
  co_await when_all(sing("high voice"), sing("low voice"));
  std::puts("the end");
  co_return 0;
}

int main() { return run(hello); }
