// The configuration as constants, and the inline namespace.
//
// The options come as compile definitions from the CMake target (or the pkg-config file); this is the only header that
// reads them. Their values form the layout symbol (layout.hpp), so that a program mixed from two configurations fails
// to link.
#pragma once

// The name is the message. A missing header ends the compilation, so this is all that a compiler says.
#if !defined(__cpp_impl_coroutine)
#include <hocket needs C++20 coroutines (__cpp_impl_coroutine): use g++ 11 or later, or clang 15 or later, with -std=c++20>
#endif
#if !defined(HOCKET_CHECKS) || !defined(HOCKET_CONFORMING)
#error \
    "hocket: link the CMake target hocket::<layer> or use `pkg-config --cflags hocket`: they carry HOCKET_CHECKS and HOCKET_CONFORMING"
// With these the rest compiles, so the line above is all that the compiler says.
#undef HOCKET_CHECKS
#undef HOCKET_CONFORMING
#define HOCKET_CHECKS 1
#define HOCKET_CONFORMING 0
#endif
// 0: the architecture's own, which is also meant when it is not given: a program mixed so does not link.
#if !defined(HOCKET_BACKEND)
#define HOCKET_BACKEND 0
#endif
#if HOCKET_BACKEND < 0 || HOCKET_BACKEND > 2
#error "hocket: HOCKET_BACKEND is 0 (native), 1 (ucontext) or 2 (thread)"
#endif
// 1: without assembly and without the compiler's own attributes, which leaves no machine switch.
#if !defined(HOCKET_PORTABLE)
#define HOCKET_PORTABLE 0
#endif
#if HOCKET_PORTABLE && HOCKET_BACKEND != 0
#error "hocket: HOCKET_PORTABLE is a build without fibers: it has no HOCKET_BACKEND"
#endif
#if !defined(__cpp_exceptions)
#error "hocket: -fno-exceptions is not supported (unwinding a killed coroutine needs exceptions)"
#endif

// 1: locks know the coroutine that holds them, for dumps, at each check level.
#if !defined(HOCKET_LOCK_OWNERS)
#define HOCKET_LOCK_OWNERS 0
#endif

#if defined(__has_feature)
#define HOCKET_HAS_FEATURE(x) __has_feature(x)
#else
#define HOCKET_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || HOCKET_HAS_FEATURE(address_sanitizer)
#define HOCKET_SANITIZER asan
#elif defined(__SANITIZE_THREAD__) || HOCKET_HAS_FEATURE(thread_sanitizer)
#define HOCKET_SANITIZER tsan
#else
#define HOCKET_SANITIZER plain
#endif

#define HOCKET_HOST_ABI v0

// Sources compiled under the model checker (tests/model) have the checker's atomics in their types, so they live in a
// namespace of their own; the checker that they call keeps the library's, which is the host's.
#if defined(HOCKET_UNDER_MODEL)
#define HOCKET_ABI v0_model
#else
#define HOCKET_UNDER_MODEL 0
#define HOCKET_ABI HOCKET_HOST_ABI
#endif

#include <hocket/base/detail/platform/debugger_script.hpp>
#include <hocket/base/detail/platform/layout.hpp>
#include <hocket/base/seam/platform/attributes.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// The protocol for authors of primitives (hocket/primitive.hpp). The primitives of the library use it, too.
namespace primitive {
}
namespace detail {
using namespace primitive;
}

}}  // namespace hocket

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

enum class check_level { none = 0, misuse = 1, debug = 2 };

// misuse: cheap checks of how the library is used, on in release builds. debug: bookkeeping that costs.
inline constexpr check_level checks{HOCKET_CHECKS};
inline constexpr bool misuse_checks = checks >= check_level::misuse;
inline constexpr bool debug_checks = checks >= check_level::debug;

// Whether locks know their owner: for the checks, or for dumps alone.
inline constexpr bool lock_owners = debug_checks || HOCKET_LOCK_OWNERS != 0;

inline constexpr bool conforming_mode = HOCKET_CONFORMING != 0;
inline constexpr bool under_model = HOCKET_UNDER_MODEL != 0;
inline constexpr bool portable_build = HOCKET_PORTABLE != 0;

enum class sanitizer_kind { plain, asan, tsan };
inline constexpr sanitizer_kind sanitizer = sanitizer_kind::HOCKET_SANITIZER;

}}}  // namespace hocket::detail
