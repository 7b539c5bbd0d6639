// The entry stubs behind a fiber's handle, riscv64: what a control block's first two words point to.
// Entered as resume(frame) and destroy(frame), frame in a0; they leave by a tail jump, so they need no frame.
// hocket_start_resume stands in the two words of a scheduled fiber that has no stack yet.

        .text
        .globl  hocket_frame_resume
        .type   hocket_frame_resume, @function
        .p2align 2
hocket_frame_resume:
        .cfi_startproc
        tail    hocket_resume_fiber@plt
        .cfi_endproc
        .size   hocket_frame_resume, .-hocket_frame_resume

        .globl  hocket_frame_destroy
        .type   hocket_frame_destroy, @function
        .p2align 2
hocket_frame_destroy:
        .cfi_startproc
        tail    hocket_destroy_fiber@plt
        .cfi_endproc
        .size   hocket_frame_destroy, .-hocket_frame_destroy

        .globl  hocket_start_resume
        .type   hocket_start_resume, @function
        .p2align 2
hocket_start_resume:
        .cfi_startproc
        tail    hocket_start_fiber@plt
        .cfi_endproc
        .size   hocket_start_resume, .-hocket_start_resume

        .section .note.GNU-stack, "", @progbits
