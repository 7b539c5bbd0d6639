#include <hocket/fiber/coroutine.hpp>

int main() {
  hocket::coroutine<int(int)> doubled{[](auto& self, int first) {
    int second = self.yield(2 * first);
    return 2 * second;
  }};
  bool right = doubled.resume(1) == 2 && doubled.resume(2) == 4 && doubled.done();
  return right ? 0 : 1;
}
