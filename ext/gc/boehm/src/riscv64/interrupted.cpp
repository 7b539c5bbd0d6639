#include "../threads.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

void note_interrupted(collected_thread& self, const ucontext_t& at) noexcept {
  for (std::size_t i = 1; i < 32; ++i) self.registers[i] = at.uc_mcontext.__gregs[i];
  self.told.registers = std::span(self.registers);
  self.told.stack_pointer = reinterpret_cast<const void*>(at.uc_mcontext.__gregs[REG_SP]);
}

}}}  // namespace hocket::gc::boehm
