#include <hocket/context/valgrind.hpp>

#if __has_include(<valgrind/valgrind.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#include <valgrind/valgrind.h>

namespace hocket::inline HOCKET_ABI {

unsigned announce_stack(void* low, void* high) noexcept { return VALGRIND_STACK_REGISTER(low, high); }
void forget_stack(unsigned id) noexcept { VALGRIND_STACK_DEREGISTER(id); }

}  // namespace hocket::inline HOCKET_ABI
#pragma GCC diagnostic pop
#else
namespace hocket::inline HOCKET_ABI {

unsigned announce_stack(void*, void*) noexcept { return 0; }
void forget_stack(unsigned) noexcept {}

}  // namespace hocket::inline HOCKET_ABI
#endif
