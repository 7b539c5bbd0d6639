#include "../threads.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

void note_interrupted(collected_thread& self, const ucontext_t& at) noexcept {
  for (std::size_t i = 0; i < 31; ++i) self.registers[i] = at.uc_mcontext.regs[i];
  self.told.registers = std::span(self.registers).first(31);
  self.told.stack_pointer = reinterpret_cast<const void*>(at.uc_mcontext.sp);
}

}}}  // namespace hocket::gc::boehm
