// The compiler's own attributes, by names that a portable build (HOCKET_PORTABLE) leaves empty. They stand between the
// brackets of an attribute: [[HOCKET_COLD, HOCKET_NOINLINE]] void give_up() noexcept;
//
// They change how fast the code is, never what it does: no code may need one to be right.
#pragma once

#if HOCKET_PORTABLE
#define HOCKET_ALWAYS_INLINE
#define HOCKET_NOINLINE
#define HOCKET_COLD
#define HOCKET_FUNCTION_ALIGNED(bytes)
#else
#define HOCKET_ALWAYS_INLINE gnu::always_inline
#define HOCKET_NOINLINE gnu::noinline
#define HOCKET_COLD gnu::cold
#define HOCKET_FUNCTION_ALIGNED(bytes) gnu::aligned(bytes)
#endif
