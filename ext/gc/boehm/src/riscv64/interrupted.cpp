#include "../threads.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

void record_interrupted_state(collected_thread& self, const ucontext_t& interrupted) noexcept {
  for (std::size_t i = 1; i < 32; ++i) self.registers[i] = interrupted.uc_mcontext.__gregs[i];
  self.state.registers = std::span(self.registers);
  self.state.stack_pointer = reinterpret_cast<const void*>(interrupted.uc_mcontext.__gregs[REG_SP]);
}

}}}  // namespace hocket::gc::boehm
