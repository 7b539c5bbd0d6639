#include "../threads.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

void note_interrupted(collected_thread& self, const ucontext_t& at) noexcept {
  const greg_t* const all = at.uc_mcontext.gregs;
  for (int i = REG_R8; i <= REG_RSP; ++i)
    self.registers[static_cast<std::size_t>(i)] = static_cast<std::uintptr_t>(all[i]);
  self.told.registers = std::span(self.registers).first(REG_RSP + 1);
  self.told.stack_pointer = reinterpret_cast<const void*>(all[REG_RSP]);
}

}}}  // namespace hocket::gc::boehm
