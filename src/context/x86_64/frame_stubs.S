// The entry stubs behind a fiber's handle, x86-64: what a control block's first two words point to.
// Entered as resume(frame) and destroy(frame), frame in rdi; they leave by a tail jump, so they need no frame.
// How a fiber is resumed tells what it is: raw, scheduled on one thread, or one that migrates. hocket_start_resume stands
// in the two words of a scheduled fiber that has no stack yet.

        .macro  entry_stub name, target
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        endbr64
        jmp     \target@PLT
        .cfi_endproc
        .size   \name, .-\name
        .endm

        .text
        entry_stub hocket_raw_resume, hocket_resume_raw
        entry_stub hocket_scheduled_resume, hocket_resume_scheduled
        entry_stub hocket_migratable_resume, hocket_resume_migratable
        entry_stub hocket_frame_destroy, hocket_destroy_fiber
        entry_stub hocket_start_resume, hocket_start_fiber

        .section .note.GNU-stack, "", @progbits
