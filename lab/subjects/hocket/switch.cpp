// hocket's machine switch alone.
#include <hocket/context/seam/switch.hpp>

#include "routine.hpp"

namespace {

namespace machine = hocket::detail::machine;

void other(void* count, void* from, void*) {
  for (;;) {
    ++*static_cast<std::uint64_t*>(count);
    from = machine::switch_to(from, nullptr).from;
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  std::uint64_t count = 0;
  auto stack = std::make_unique<std::byte[]>(r.stack);
  auto top = reinterpret_cast<std::uintptr_t>(stack.get() + r.stack) & ~std::uintptr_t{63};
  void* record = machine::prepare(reinterpret_cast<void*>(top), &other, &count, r.stack - 64);
  return lab::run_routine(LAB_SYSTEM, r, count, [&](std::size_t k) {
    for (; k; --k) record = machine::switch_to(record, nullptr).from;
  });
}
