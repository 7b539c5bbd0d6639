#include "../threads.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

void record_interrupted_state(collected_thread& self, const ucontext_t& interrupted) noexcept {
  for (std::size_t i = 0; i < 31; ++i) self.registers[i] = interrupted.uc_mcontext.regs[i];
  self.state.registers = std::span(self.registers).first(31);
  self.state.stack_pointer = reinterpret_cast<const void*>(interrupted.uc_mcontext.sp);
}

}}}  // namespace hocket::gc::boehm
