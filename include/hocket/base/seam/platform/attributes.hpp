// The compiler's own attributes, by names that a portable build (HOCKET_PORTABLE) leaves empty. They stand between the
// brackets of an attribute: [[HOCKET_COLD, HOCKET_NOINLINE]] void give_up() noexcept;
//
// They change how fast the code is, never what it does: no code may need one to be right. One is an exception:
// HOCKET_APART_FROM_FRAME, of an await_suspend() that goes on when its coroutine may run elsewhere. Clang before 19 may
// inline it, and keep its variables in the coroutine's frame. g++ never does. A portable build has no such function.
#pragma once

#if HOCKET_PORTABLE
#define HOCKET_ALWAYS_INLINE
#define HOCKET_NOINLINE
#define HOCKET_COLD
#define HOCKET_FUNCTION_ALIGNED(bytes)
#define HOCKET_APART_FROM_FRAME
#else
#define HOCKET_ALWAYS_INLINE gnu::always_inline
#define HOCKET_NOINLINE gnu::noinline
#define HOCKET_COLD gnu::cold
#define HOCKET_FUNCTION_ALIGNED(bytes) gnu::aligned(bytes)
#if defined(__clang__)
#define HOCKET_APART_FROM_FRAME gnu::noinline
#else
#define HOCKET_APART_FROM_FRAME gnu::always_inline
#endif
#endif
