#include "runtime/platform/interrupted_code.hpp"

#include <algorithm>
#include <pthread.h>
#include <ucontext.h>
#include <unwind.h>

#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35) && (defined(__clang__) || __GNUC__ >= 12)
#define HOCKET_TABLES_WITHOUT_LOCK 1
#include <dlfcn.h>
#endif
#endif

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// HOCKET_BACKEND 2 is `thread`.
const bool can_interrupt_coroutines = HOCKET_BACKEND != 2;

#if defined(__x86_64__)
interrupted_code::interrupted_code(const void* context) noexcept {
  const greg_t* const all = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  for (int i = REG_R8; i <= REG_RSP; ++i) registers[static_cast<std::size_t>(i)] = static_cast<std::uintptr_t>(all[i]);
  instruction = static_cast<std::uintptr_t>(all[REG_RIP]);
  stack_pointer = static_cast<std::uintptr_t>(all[REG_RSP]);
}
#elif defined(__aarch64__)
interrupted_code::interrupted_code(const void* context) noexcept {
  const mcontext_t& all = static_cast<const ucontext_t*>(context)->uc_mcontext;
  std::copy_n(all.regs, 31, registers.begin());
  instruction = all.pc;
  stack_pointer = all.sp;
}
#elif defined(__riscv) && __riscv_xlen == 64
interrupted_code::interrupted_code(const void* context) noexcept {
  const auto& all = static_cast<const ucontext_t*>(context)->uc_mcontext.__gregs;
  std::copy_n(all, 32, registers.begin());
  instruction = all[REG_PC];
  stack_pointer = all[REG_SP];
}
#else
interrupted_code::interrupted_code(const void*) noexcept {}
#endif

#if defined(HOCKET_TABLES_WITHOUT_LOCK)

namespace {

struct walk {
  const interrupted_code& code;
  bool (*visit)(void* with, const native_frame& frame) noexcept;
  void* with;
  bool inside = false;  // the frames of the handler are over
};

bool is_code(std::uintptr_t address) noexcept {
  dl_find_object found;
  return ::_dl_find_object(reinterpret_cast<void*>(address), &found) == 0;
}

_Unwind_Reason_Code step(_Unwind_Context* context, void* with) noexcept {
  auto& self = *static_cast<walk*>(with);
  const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  const bool first = !self.inside && address == self.code.instruction;
  if (!self.inside && !first) return _URC_NO_REASON;
  self.inside = true;
  if (!is_code(address)) return _URC_NORMAL_STOP;
  const native_frame frame{address, static_cast<std::uintptr_t>(_Unwind_GetRegionStart(context)),
                           static_cast<std::uintptr_t>(_Unwind_GetCFA(context))};
  return self.visit(self.with, frame) ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

_Unwind_Reason_Code stop_at_once(_Unwind_Context*, void*) noexcept { return _URC_NORMAL_STOP; }

}  // namespace

// Where the tables do not lead from the handler to the interrupted code, that code is known nevertheless.
void visit_native_frames(const interrupted_code& code, bool (*visit)(void* with, const native_frame& frame) noexcept,
                         void* with) noexcept {
  walk self{code, visit, with};
  _Unwind_Backtrace(&step, &self);
  if (!self.inside) visit(with, {code.instruction, 0, code.stack_pointer});
}

void prepare_native_frames() noexcept {
  _Unwind_Backtrace(&stop_at_once, nullptr);
  static_cast<void>(is_code(0));
}

#else

void visit_native_frames(const interrupted_code& code, bool (*visit)(void* with, const native_frame& frame) noexcept,
                         void* with) noexcept {
  visit(with, {code.instruction, 0, code.stack_pointer});
}

void prepare_native_frames() noexcept {}

#endif

native_stack stack_of_this_thread() noexcept {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t size = 0;
  const bool known = ::pthread_attr_getstack(&attributes, &low, &size) == 0;
  ::pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<std::uintptr_t>(low);
  return known ? native_stack{begin, begin + size} : native_stack{};
}

}}}  // namespace hocket::detail
