// The out-of-line switch and the entry of a fresh stack, x86-64 System V. The record is context/seam/switch.hpp's.
//
// hocket_switch(rdi = the record to resume, rsi = transfer) returns rax = the other's record, rdx = its transfer.
// At every landing rax and rdx hold these two, whichever form was used on the other side.
//
//   parked by it:   +56  return address of the call
//                   +48  r12
//                   +40  r13
//                   +32  r14
//                   +24  r15                          (stack pointer at the resumption: the landing pops from here)
//                   +16  rbx
//                   +8   rbp
//                   +0   landing                      <- record
//
// So either form of the switch can resume a stack that the other one parked.

        .text
        .globl  hocket_switch
        .type   hocket_switch, @function
        .p2align 4
hocket_switch:
        .cfi_startproc
        endbr64
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r15, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        leaq    .Llanding(%rip), %rax
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        movq    %rsp, %rax
        movq    %rsi, %rdx
        movq    8(%rdi), %rbp
        movq    16(%rdi), %rbx
        leaq    24(%rdi), %rsp          // from here on the new stack; the tables describe one that was parked here
        .cfi_restore %rbp
        .cfi_restore %rbx
        .cfi_adjust_cfa_offset -24
        jmpq    *(%rdi)
.Llanding:                              // rbp and rbx are restored; rsp is record + 24
        endbr64
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r12
        popq    %rcx                    // the return address: a jump, since `ret` would be mispredicted
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rcx
        notrack jmpq *%rcx              // a return: its target needs no endbr64
        .cfi_endproc
        .size   hocket_switch, .-hocket_switch

// The first frame of every fiber: rbp = argument, rbx = entry function, rsp + 8 aligned. Unwinding ends here.
        .globl  hocket_entry
        .type   hocket_entry, @function
        .p2align 4
hocket_entry:
        .cfi_startproc
        .cfi_undefined %rip
        endbr64
        movq    %rbp, %rdi              // argument
        movq    %rax, %rsi              // from; transfer is in rdx already
        pushq   $0                      // the frame chain ends
        .cfi_adjust_cfa_offset 8
        xorl    %ebp, %ebp
        callq   *%rbx
        ud2                             // the entry function never returns
        .cfi_endproc
        .size   hocket_entry, .-hocket_entry

        .section .note.GNU-stack, "", @progbits
