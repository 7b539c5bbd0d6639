// The layout symbol: a program that mixes two layouts of hocket fails to link, or to load.
//
// The options of a build change the size of types and inline code: version, assertion level, conforming mode, owners of
// locks, sanitizer, back end. Their values form the name of one symbol:
//
//   hocket_layout_v0_1_0_checks1_conforming0_plain_native
//   hocket_layout_v0_1_0_checks1_conforming0_owners_plain_native
//
// libhocket_base defines the symbol of its own layout (src/base/platform/layout_check.cpp). Each unit that includes a
// hocket header refers to the symbol of the unit's layout. If the two differ, then the linker reports the unit's symbol
// as undefined. If a plug-in differs from the program that loads it, then dlopen() fails with the same name, because a
// reference from data is resolved at load time even under RTLD_LAZY.
//
// The reference is a pointer that the compiler keeps (gnu::used) and that the linker keeps under --gc-sections
// (gnu::retain): 8 bytes a unit. It has internal linkage, because the linker would merge the references of two layouts.
// A portable build has no such attributes. There a function of the library receives the address before main(), since
// initialisers stay whatever a linker removes.
#pragma once
#include <hocket/base/version.hpp>

#if HOCKET_BACKEND == 1
#define HOCKET_BACKEND_NAME ucontext
#elif HOCKET_BACKEND == 2
#define HOCKET_BACKEND_NAME thread
#elif HOCKET_PORTABLE
#define HOCKET_BACKEND_NAME portable
#else
#define HOCKET_BACKEND_NAME native
#endif

#if HOCKET_LOCK_OWNERS
#define HOCKET_OWNERS_NAME owners_
#else
#define HOCKET_OWNERS_NAME
#endif

#define HOCKET_LAYOUT_JOIN2(major, minor, patch, checks, conforming, owners, sanitizer, backend) \
  hocket_layout_v##major##_##minor##_##patch##_checks##checks##_conforming##conforming##_##owners##sanitizer##_##backend
#define HOCKET_LAYOUT_JOIN(major, minor, patch, checks, conforming, owners, sanitizer, backend) \
  HOCKET_LAYOUT_JOIN2(major, minor, patch, checks, conforming, owners, sanitizer, backend)
#define HOCKET_LAYOUT                                                                                 \
  HOCKET_LAYOUT_JOIN(HOCKET_VERSION_MAJOR, HOCKET_VERSION_MINOR, HOCKET_VERSION_PATCH, HOCKET_CHECKS, \
                     HOCKET_CONFORMING, HOCKET_OWNERS_NAME, HOCKET_SANITIZER, HOCKET_BACKEND_NAME)

extern "C" const char HOCKET_LAYOUT;

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

#if HOCKET_PORTABLE
bool refer_to_layout(const char& symbol) noexcept;
[[maybe_unused]] static const bool layout_of_this_unit = refer_to_layout(HOCKET_LAYOUT);
#else
[[gnu::used, gnu::retain]] static const char* const layout_of_this_unit = &HOCKET_LAYOUT;
#endif

}}}  // namespace hocket::detail
