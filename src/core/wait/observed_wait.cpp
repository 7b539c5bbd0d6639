// A wait as dumps, while the threads are stopped, and observers see it.
#include <hocket/core/context.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/wait/detail/observed.hpp>
#include <hocket/core/wait/detail/slot_hooks.hpp>
#include <hocket/core/wait/seam/observed.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/core/wait/seam/suspension.hpp>

#include <exception>
#include <new>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail { namespace {

// An observed wake queues this frame in place of the coroutine. The frame calls resumed(), then resumes the coroutine.
// The resume loop could not do that: a handle may belong to a nested task, a fiber's proxy, or a foreign coroutine
// without a header, so it does not have the coroutine's id. The waking thread knows the id. The frame has a header,
// like a coroutine of hocket's.
struct announced_resume {
  struct promise_type : coroutine_header {
    promise_type(std::coroutine_handle<> awaiting, coroutine_id, context& ctx_of_wait) noexcept : coroutine(awaiting) {
      kind = coroutine_kind::root;
      ctx = &ctx_of_wait;
    }
    // Frees the frame first, because the resumed coroutine may end the executor.
    struct end {
      static bool await_ready() noexcept { return false; }
      static std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        const std::coroutine_handle<> coroutine = self.promise().coroutine;
        self.destroy();
        return coroutine;
      }
      static void await_resume() noexcept {}
    };
    static void* operator new(std::size_t bytes) noexcept try {
      return allocate_frame(bytes);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    static void operator delete(void* frame, std::size_t bytes) noexcept { release_frame(frame, bytes); }
    static announced_resume get_return_object_on_allocation_failure() noexcept { return {}; }
    announced_resume get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    end final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }

    const std::coroutine_handle<> coroutine;
  };
  std::coroutine_handle<promise_type> handle{};
};

announced_resume announce_resume(std::coroutine_handle<>, coroutine_id id, context&) {
  notify_resumed(id);
  co_return;
}

}  // namespace
}  // namespace detail

namespace primitive {

// Out of line, so that an unobserved wait pays nothing for them (tests/counts).
void suspension::notify_suspended() noexcept {
  const coroutine_id id = observed_as();
  if (handle) handle = detail::suspend_slots(*ctx_, handle);
  detail::notify_suspended(id, {first_source(), detail::location_of(at_)});
}
void suspension::notify_woken() noexcept {
  if (!detail::has_observers()) return;
  detail::notify_woken(observed_as());
  if (!handle) return;
  const auto announced = detail::announce_resume(handle, observed_as(), *ctx_).handle;
  if (announced) handle = announced;
}
void suspension::notify_continued() const noexcept {
  detail::notify_woken(observed_as());
  if (!handle) return;
  detail::notify_resumed(observed_as());
  detail::resume_slots(*ctx_, handle);
}
bool suspension::notify_committed() noexcept {
  notify_suspended();
  return true;
}

// The coroutine of the events: the scheduled one as a whole, whichever of its frames waits.
coroutine_id suspension::observed_as() const noexcept {
  const detail::strand_state* const whole = ctx_->coroutine();
  return whole ? whole->id() : coroutine_id(handle.address());
}

const wait_source* suspension::first_source() const noexcept { return first_ ? first_->source_ : nullptr; }

const wait_source* suspension::awaited() const noexcept {
  // ORDER: relaxed, pairs with the stores in defer() and post_deferred(): a mark.
  return decided() ? deferred_by_.load(std::memory_order_relaxed) : first_source();
}

}  // namespace primitive

}}  // namespace hocket
