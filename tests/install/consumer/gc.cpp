#include <hocket/gc/root.hpp>
#include <hocket/gc/world.hpp>

int main() {
  const hocket::gc::thread_scope registered;
  int object = 1, moved_to = 2;
  hocket::gc::root<int> held(&object);
  hocket::gc::stop_world([&](std::span<const hocket::stopped_thread>) {
    hocket::gc::for_each_root([&](void*& reference) { reference = &moved_to; });
  });
  return *held == 2 ? 0 : 1;
}
