// A coroutine frame is aligned like memory from operator new, no stricter.
// expect: return it through a std::unique_ptr
#include <hocket/coro/task.hpp>
#include <memory>

struct alignas(64) vector_register {
  float lanes[16];
};
hocket::task<std::unique_ptr<vector_register>> aligned() { co_return std::make_unique<vector_register>(); }
#ifdef SHOULD_FAIL
hocket::task<vector_register> misaligned() { co_return vector_register{}; }
#endif
