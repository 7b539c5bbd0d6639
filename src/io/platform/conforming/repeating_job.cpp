// Conforming mode: the handle of a repeating job is a real coroutine, which suspends between two runs.
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/io/detail/repeating_job.hpp>

#include <exception>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

struct repeating_proxy {
  struct promise_type {
    static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { release_frame(frame, bytes); }
    explicit promise_type(repeating_job& owner) noexcept : job(owner) {}
    // The run is the last step before the coroutine suspends: another thread may resume it during the run.
    struct next_run {
      static bool await_ready() noexcept { return false; }
      static bool await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        this_thread().ctx = nullptr;
        repeating_job& job = self.promise().job;
        if (job.run(job)) return true;
        self.destroy();
        return true;
      }
      static void await_resume() noexcept {}
    };
    repeating_proxy get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }

    repeating_job& job;
  };
  std::coroutine_handle<promise_type> handle;
};

repeating_proxy resumed_repeatedly(repeating_job&) {
  for (;;) co_await repeating_proxy::promise_type::next_run{};
}

}  // namespace

void open(repeating_job& job) { job.entry.handle = resumed_repeatedly(job).handle; }

void close(repeating_job& job) noexcept { std::exchange(job.entry.handle, nullptr).destroy(); }

}}}  // namespace hocket::detail
