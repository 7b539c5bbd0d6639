// Branch target identification, enforced: this program is compiled for it and asks for it, as a loader does for one
// whose objects all promise it. Then each indirect jump and call must meet a landing of its kind, in switch.S, in
// frame_stubs.S and in the inline form.
//
// No test framework: what it calls by pointer would have to be compiled so, too. ctest takes 77 for "skipped".
#include <hocket/context/seam/switch.hpp>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace hocket;

extern "C" {
extern char __executable_start, etext;  // of the linker
void hocket_raw_resume(void* frame);
void hocket_scheduled_resume(void* frame);
void hocket_migratable_resume(void* frame);
void hocket_frame_destroy(void* frame);
void hocket_start_resume(void* frame);

// What the stubs jump to.
void hocket_resume_raw(void* frame) { *static_cast<int*>(frame) += 1; }
void hocket_resume_scheduled(void* frame) { *static_cast<int*>(frame) += 10; }
void hocket_resume_migratable(void* frame) { *static_cast<int*>(frame) += 100; }
void hocket_destroy_fiber(void* frame) { *static_cast<int*>(frame) += 1000; }
void hocket_start_fiber(void* frame) { *static_cast<int*>(frame) += 10000; }
}

namespace {

using form = detail::machine::arrival (*)(void*, void*);

constexpr int skipped = 77;

bool guard_this_program() {
  constexpr int bti = 0x10;  // PROT_BTI
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto first = reinterpret_cast<std::uintptr_t>(&__executable_start) / page * page;
  auto end = (reinterpret_cast<std::uintptr_t>(&etext) + page - 1) / page * page;
  return mprotect(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_EXEC | bti) == 0;
}

// The control: a call of what is no landing.
bool is_enforced() {
  pid_t child = fork();
  if (child == 0) {
    void (*volatile no_landing)(void*) = &hocket_raw_resume;
    int frame = 0;
    asm volatile("add %0, %0, #4\n\tmov x0, %1\n\tblr %0"
                 :
                 : "r"(no_landing), "r"(&frame)
                 : "x0", "x1", "x30", "memory");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGILL;
}

[[gnu::noinline]] detail::machine::arrival inlined(void* to, void* transfer) {
  return detail::machine::switch_to(to, transfer);
}

struct other_side {
  form go;
  static void run(void* argument, void* from, void*) {
    auto& self = *static_cast<other_side*>(argument);
    for (int i = 0; i < 3; ++i) from = self.go(from, nullptr).from;
    detail::machine::leave(from, nullptr);
  }
};

void switch_by(form mine, form others) {
  alignas(16) static std::byte stack[65536];
  other_side other{others};
  void* record = detail::machine::prepare(stack + sizeof stack, &other_side::run, &other, sizeof stack);
  while (record) record = mine(record, nullptr).from;
}

}  // namespace

int main() {
  constexpr unsigned long has_bti = 1UL << 17;  // HWCAP2_BTI
  if (!(getauxval(AT_HWCAP2) & has_bti) || !guard_this_program() || !is_enforced()) _exit(skipped);
  constexpr form forms[] = {&inlined, &detail::machine::hocket_switch};
  for (form mine : forms)
    for (form others : forms) switch_by(mine, others);
  int frame = 0;
  void (*volatile stubs[])(void*) = {&hocket_raw_resume, &hocket_scheduled_resume, &hocket_migratable_resume,
                                     &hocket_frame_destroy, &hocket_start_resume};
  for (auto stub : stubs) stub(&frame);
  _exit(frame == 11111 ? 0 : 1);
}
