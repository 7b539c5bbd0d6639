// The part of a collector that finds roots: it looks for an address on the stacks of suspended fibers.
#include <hocket/fiber/enumeration.hpp>
#include <hocket/hocket.hpp>

#include <cstdint>
#include <vector>

namespace {

// Kept inverted, so that only the fibers have the address itself.
struct object {
  std::uintptr_t inverted = ~reinterpret_cast<std::uintptr_t>(this);
  [[gnu::noinline]] void* address() const noexcept { return reinterpret_cast<void*>(~inverted); }
};

[[gnu::noinline]] bool is_found(const object& target) {
  hocket::stopped_thread own;
  own.fibers = hocket::this_thread_fibers();
  own.stack_pointer = __builtin_frame_address(0);
  bool found = false;
  hocket::for_each_stack({&own, 1}, [&](const hocket::stack_range& range) {
    const auto* word = reinterpret_cast<const std::uintptr_t*>(range.low);
    for (; word < reinterpret_cast<const std::uintptr_t*>(range.high); ++word) found |= *word == ~target.inverted;
  });
  return found;
}

}  // namespace

int main() {
  if (!hocket::can_enumerate_stacks()) return 0;
  const object target;
  hocket::event go;
  hocket::loop lp;
  hocket::spawn(lp, [&] {
    [[maybe_unused]] void* volatile root = target.address();
    static_cast<void>(hocket::await(go.wait()));
    root = nullptr;
  });
  while (lp.step()) continue;
  const bool held = is_found(target);
  go.set();
  lp.run();
  return held && !is_found(target) ? 0 : 1;
}
