// Conforming mode: the handle belongs to a real C++20 coroutine, which resumes the fiber and suspends when it yields.
// It proves that nothing else depends on the layout of a compiler's frames.
#include "fiber/entry.hpp"

#include <hocket/fiber/detail/fiber_life.hpp>
#include <hocket/fiber/detail/round_trip.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>

#include "fiber/migration.hpp"
#include "fiber/resume_scheduled.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

void unreachable(void*) { fatal("a fiber's control block was used as a frame", "this is an error of the library"); }

struct owned_fiber {
  control_block* block;
  explicit owned_fiber(control_block* owned) noexcept : block(owned) {}
  owned_fiber(owned_fiber&& other) noexcept : block(std::exchange(other.block, nullptr)) {}
  ~owned_fiber() {
    if (block) destroy_fiber(*block);
  }
};

struct proxy {
  struct promise_type {
    proxy get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { throw; }  // out of resume(): the coroutine is done then, as the standard has it
  };
  std::coroutine_handle<promise_type> handle;
};

proxy run(owned_fiber fiber) {
  control_block& block = *fiber.block;
  for (;;) {
    if (!block.record || block.thread().id != machine::thread_id()) report_bad_resume(block);
    enter(block, block.thread(), empty_message(block));
    if (block.finished()) break;
    co_await std::suspend_always{};
  }
  rethrow_error(fiber_record::from_block(block));
}

// The whole life of a scheduled fiber as a coroutine. It destroys itself at its end, because no code holds its handle
// then.
struct scheduled_proxy {
  struct promise_type : coroutine_header {
    explicit promise_type(scheduled_fiber& fiber) noexcept {
      kind = coroutine_kind::fiber;
      budget = transfer_budget;
      ctx = &fiber.activity();
    }
    scheduled_proxy get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

// The commit of a fiber that parks runs when its proxy is suspended.
struct commit_parked {
  park_request& request;
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> proxy) const noexcept {
    std::coroutine_handle<> next = request.commit(request, with_header(proxy));
    return next ? next : std::noop_coroutine();
  }
  void await_resume() const noexcept {}
};

// Waits for a stack.
struct wait_unbegun {
  scheduled_fiber& fiber;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> proxy) const noexcept { return fiber.wait_for_stack(proxy); }
  void await_resume() const noexcept {}
};

// Posts a migrating fiber again that cannot run here.
struct requeue {
  scheduled_fiber& fiber;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> proxy) const noexcept { fiber.activity().post_again(proxy); }
  void await_resume() const noexcept {}
};

scheduled_proxy run_scheduled(scheduled_fiber& fiber) {
  using preparation = scheduled_fiber::preparation;
  preparation outcome = fiber.prepare();
  for (; outcome == preparation::waits; outcome = fiber.prepare()) co_await wait_unbegun{fiber};
  if (outcome == preparation::done) {
    while (void* sent = resume_scheduled(*fiber.block()).request) {
      co_await commit_parked{*static_cast<park_request*>(sent)};
      while (fiber.migrates() && !move_to_this_thread(*fiber.block())) co_await requeue{fiber};
    }
  }
  fiber.conclude();
}

}  // namespace

std::coroutine_handle<> scheduled_fiber::start_handle() { return run_scheduled(*this).handle; }

constinit const frame_head raw_entry_points{&unreachable, &unreachable};
constinit const frame_head scheduled_entry_points{&unreachable, &unreachable};
constinit const frame_head migratable_entry_points{&unreachable, &unreachable};

std::coroutine_handle<> release_fiber(control_block& block) {
  if (!block.record) report_bad_resume(block);
  return run(owned_fiber(&block)).handle;
}

}}}  // namespace hocket::detail
