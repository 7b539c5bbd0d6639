// Two stacks that switch to one another by the out-of-line routine, while gdb goes through it instruction by
// instruction (step.py knows what it must see).
#include <hocket/context/seam/switch.hpp>

#include <cstddef>
#include <cstdint>

using namespace hocket;

namespace {

alignas(64) std::byte memory[64 * 1024];

}  // namespace

extern "C" [[gnu::noinline]] void other_side(void*, void* from, void*) {
  for (;;) {
    from = detail::machine::hocket_switch(from, nullptr).from;
    asm volatile("");
  }
}

extern "C" [[gnu::noinline]] void both_are_parked_by_it() { asm volatile(""); }

int main() {
  void* record = detail::machine::prepare(memory + sizeof memory, &other_side, nullptr, sizeof memory);
  record = detail::machine::hocket_switch(record, nullptr).from;
  both_are_parked_by_it();
  record = detail::machine::hocket_switch(record, nullptr).from;
  return record ? 0 : 1;
}
