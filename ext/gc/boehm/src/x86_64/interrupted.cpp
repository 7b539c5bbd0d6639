#include "../threads.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

void record_interrupted_state(collected_thread& self, const ucontext_t& interrupted) noexcept {
  const greg_t* const saved = interrupted.uc_mcontext.gregs;
  for (int i = REG_R8; i <= REG_RSP; ++i)
    self.registers[static_cast<std::size_t>(i)] = static_cast<std::uintptr_t>(saved[i]);
  self.state.registers = std::span(self.registers).first(REG_RSP + 1);
  self.state.stack_pointer = reinterpret_cast<const void*>(saved[REG_RSP]);
}

}}}  // namespace hocket::gc::boehm
