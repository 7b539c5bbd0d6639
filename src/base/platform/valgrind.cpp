#include <hocket/base/seam/valgrind.hpp>

// Its requests are assembly, which a portable build has none of.
#if __has_include(<valgrind/valgrind.h>) && !HOCKET_PORTABLE
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#include <valgrind/memcheck.h>
#include <valgrind/valgrind.h>
#endif

// The header says NVALGRIND, too, for a machine that Valgrind does not run on.
#if defined(RUNNING_ON_VALGRIND) && !defined(NVALGRIND)
namespace hocket { inline namespace HOCKET_ABI { namespace detail {

const bool under_valgrind = [] { return RUNNING_ON_VALGRIND != 0; }();
const bool under_memcheck = [] {
  const char mine = 0;
  return VALGRIND_MAKE_MEM_DEFINED(&mine, 1) != 0;  // the other tools do not answer
}();
unsigned announce_stack(const void* low, const void* high) noexcept { return VALGRIND_STACK_REGISTER(low, high); }
void forget_stack(unsigned id) noexcept { VALGRIND_STACK_DEREGISTER(id); }
void allow_stack_access(const void* low, std::size_t size) noexcept { VALGRIND_MAKE_MEM_UNDEFINED(low, size); }

}}}  // namespace hocket::detail
#else
namespace hocket { inline namespace HOCKET_ABI { namespace detail {

const bool under_valgrind = false;
const bool under_memcheck = false;
unsigned announce_stack(const void*, const void*) noexcept { return 0; }
void forget_stack(unsigned) noexcept {}
void allow_stack_access(const void*, std::size_t) noexcept {}

}}}  // namespace hocket::detail
#endif
