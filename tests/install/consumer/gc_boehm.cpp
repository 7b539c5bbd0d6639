#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/gc/boehm.hpp>
#include <hocket/runtime/run.hpp>
#include <gc/gc.h>

int main() {
  hocket::gc::boehm::start();
  const int held = hocket::run([] {
    auto* const object = static_cast<int*>(GC_MALLOC(sizeof(int)));
    *object = 7;
    hocket::await(hocket::yield());
    GC_gcollect();
    return *object;
  });
  return held == 7 ? 0 : 1;
}
