// Conforming mode: a child's frame is a real coroutine, which ends when it has been resumed.
#include <hocket/coro/detail/when_group.hpp>

namespace hocket::inline HOCKET_ABI::detail {
namespace {

struct when_proxy {
  struct promise_type : coroutine_header, recycled_frame {
    explicit promise_type(when_frame& frame) noexcept { ctx = frame.group; }
    when_proxy get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

// The frame may be gone when finish() returns.
when_proxy finish_once(when_frame& frame) {
  frame.finish(frame);
  co_return;
}

}  // namespace

std::coroutine_handle<coroutine_header> open(when_frame& frame) { return with_header(finish_once(frame).handle); }

void close(std::coroutine_handle<coroutine_header> handle) noexcept { handle.destroy(); }

}  // namespace hocket::inline HOCKET_ABI::detail
