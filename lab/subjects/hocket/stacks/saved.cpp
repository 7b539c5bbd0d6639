// The registers that a switch saves, and its way of returning, in round trips.
//
//   hocket-inline     hocket's: the compiler saves live registers; returns by an indirect jump
//   routine-jmp       a called routine with six pushes and pops; returns by an indirect jump
//   routine-ret       the same, returns by `ret`, which the processor predicts to return behind the last call
//   routine-jmp-fp    as routine-jmp, and stores and loads mxcsr and the x87 control word
//   routine-ret-fp    both, as is usual
//
// The routines are in this file, and have no other difference. Their parked stack, from its stack pointer up: with -fp
// the two control words; r15, r14, r13, r12, rbx, rbp, and the resume address.
#include "bare.hpp"
#include "slab.hpp"

#include <cstring>

extern "C" {
using lab_routine = void (*)(void** save, void* to);
void lab_switch_jmp(void** save, void* to);
void lab_switch_ret(void** save, void* to);
void lab_switch_jmp_fp(void** save, void* to);
void lab_switch_ret_fp(void** save, void* to);
void lab_entry();
}

// LAB_SAVE and LAB_LOAD keep the six registers. A fresh stack begins at lab_entry, which calls r12 with r13.
asm(R"(
        .text
        .macro LAB_SAVE
        pushq %rbp
        pushq %rbx
        pushq %r12
        pushq %r13
        pushq %r14
        pushq %r15
        .endm
        .macro LAB_LOAD
        popq %r15
        popq %r14
        popq %r13
        popq %r12
        popq %rbx
        popq %rbp
        .endm
        .macro LAB_SAVE_FP
        leaq -8(%rsp), %rsp
        stmxcsr (%rsp)
        fnstcw 4(%rsp)
        .endm
        .macro LAB_LOAD_FP
        ldmxcsr (%rsp)
        fldcw 4(%rsp)
        leaq 8(%rsp), %rsp
        .endm
        .macro LAB_EXCHANGE
        movq %rsp, (%rdi)
        movq %rsi, %rsp
        .endm

        .p2align 4
        .globl lab_switch_jmp
lab_switch_jmp:
        LAB_SAVE
        LAB_EXCHANGE
        LAB_LOAD
        popq %rcx
        jmpq *%rcx

        .p2align 4
        .globl lab_switch_ret
lab_switch_ret:
        LAB_SAVE
        LAB_EXCHANGE
        LAB_LOAD
        ret

        .p2align 4
        .globl lab_switch_jmp_fp
lab_switch_jmp_fp:
        LAB_SAVE
        LAB_SAVE_FP
        LAB_EXCHANGE
        LAB_LOAD_FP
        LAB_LOAD
        popq %rcx
        jmpq *%rcx

        .p2align 4
        .globl lab_switch_ret_fp
lab_switch_ret_fp:
        LAB_SAVE
        LAB_SAVE_FP
        LAB_EXCHANGE
        LAB_LOAD_FP
        LAB_LOAD
        ret

        .p2align 4
        .globl lab_entry
lab_entry:
        xorl %ebp, %ebp
        movq %r13, %rdi
        callq *%r12
        ud2
)");

namespace {

// Coroutines on one of these routines. One set at a time: a body finds its owner in a variable of the program.
void* owner = nullptr;

struct coroutine {
  void* parked;
  lab::line* mine;
};

template <lab_routine Switch>
void body(coroutine* self) {
  for (;;) {
    ++self->mine->count;
    Switch(&self->parked, owner);
  }
}

struct control_words {
  std::uint32_t mxcsr;
  std::uint16_t x87;
  std::uint16_t unused;
};

template <lab_routine Switch>
class coroutines {
 public:
  coroutines(lab::pooled_stacks& stacks, std::size_t n, bool has_control_words) : n_{n}, all_{n}, lines_{n} {
    for (std::size_t i = 0; i < n; ++i) {
      lines_[i] = lab::line{0, false};
      all_[i] = {prepared(stacks.top(i), &all_[i], has_control_words), &lines_[i]};
    }
  }

  [[gnu::noinline]] double rounds(std::size_t k) {
    expected_ += k;
    return lab::timed([&] {
      for (; k; --k) {
        for (std::size_t i = 0; i < n_; ++i) Switch(&owner, all_[i].parked);
      }
    });
  }
  void check() {
    for (std::size_t i = 0; i < n_; ++i) {
      if (lines_[i].count != expected_) lab::fail("a coroutine's counter does not show the expected round trips");
    }
  }

 private:
  // Above the words that the routine loads two are left free: lab_entry begins with an aligned stack pointer.
  static void* prepared(std::byte* top, coroutine* self, bool has_control_words) {
    auto* word = reinterpret_cast<std::uintptr_t*>(top) - 2;
    *--word = reinterpret_cast<std::uintptr_t>(&lab_entry);
    *--word = 0;                                                // rbp
    *--word = 0;                                                // rbx
    *--word = reinterpret_cast<std::uintptr_t>(&body<Switch>);  // r12
    *--word = reinterpret_cast<std::uintptr_t>(self);           // r13
    *--word = 0;                                                // r14
    *--word = 0;                                                // r15
    if (has_control_words) {
      control_words now{};
      asm("stmxcsr %0\n\tfnstcw %1" : "=m"(now.mxcsr), "=m"(now.x87));
      std::memcpy(--word, &now, sizeof now);
    }
    return word;
  }

  std::size_t n_;
  lab::slots<coroutine> all_;
  lab::slots<lab::line> lines_;
  std::uint64_t expected_ = 0;
};

int report(const char* system, const lab::request& r, double ns) {
  lab::emit(system, "saved", r.n, "ns", ns / static_cast<double>(r.n));
  return 0;
}

template <lab_routine Switch>
int measure(const char* system, const lab::request& r, bool has_control_words) {
  lab::pooled_stacks stacks{r.n, r.stack};
  coroutines<Switch> all{stacks, r.n, has_control_words};
  double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) { return all.rounds(k); });
  all.check();
  return report(system, r, ns);
}

int inlined(const char* system, const lab::request& r) {
  lab::pooled_stacks stacks{r.n, r.stack};
  lab::bare_coroutines all{r.n, r.stack, [&](std::size_t i) { return stacks.top(i); }};
  double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) { return all.rounds(k, [](std::size_t) {}); });
  all.check();
  return report(system, r, ns);
}

}  // namespace

int lab::saved(const char* system, const request& r) {
  std::string_view name = system;
  if (name == "hocket-inline") return inlined(system, r);
  if (name == "routine-jmp") return measure<&lab_switch_jmp>(system, r, false);
  if (name == "routine-ret") return measure<&lab_switch_ret>(system, r, false);
  if (name == "routine-jmp-fp") return measure<&lab_switch_jmp_fp>(system, r, true);
  if (name == "routine-ret-fp") return measure<&lab_switch_ret_fp>(system, r, true);
  unknown_system();
}
