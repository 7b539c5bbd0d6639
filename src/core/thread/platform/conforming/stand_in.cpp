// Conforming mode: a stand-in's frame is a real coroutine, which ends when it has been resumed.
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/stand_in.hpp>

#include <exception>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

struct stand_in_proxy {
  struct promise_type : migratable_header {
    static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { release_frame(frame, bytes); }
    explicit promise_type(stand_in& owner) noexcept : migratable_header(owner.header), frame(owner) {}
    // Frees its frame first: the next coroutine may destroy the stand-in, and no other code frees this frame.
    struct end {
      static bool await_ready() noexcept { return false; }
      static std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        stand_in& frame = self.promise().frame;
        frame.header = self.promise();
        self.destroy();
        const std::coroutine_handle<> next = frame.go_on(frame);
        return next ? next : std::noop_coroutine();
      }
      static void await_resume() noexcept {}
    };
    stand_in_proxy get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    end final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }

    stand_in& frame;
  };
  std::coroutine_handle<promise_type> handle;
};

stand_in_proxy resumed_once(stand_in&) { co_return; }

}  // namespace

std::coroutine_handle<migratable_header> open(stand_in& frame) {
  return with_header<migratable_header>(resumed_once(frame).handle);
}

void close(std::coroutine_handle<migratable_header> handle) noexcept { handle.destroy(); }

}}}  // namespace hocket::detail
