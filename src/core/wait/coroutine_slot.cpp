// Slots, and the frame that calls their hooks.
//
// The frame of a slot with hooks, from wait to wait:
//
//   idle      continuation.handle is null
//   queued    continuation.handle is the coroutine; the frame is the handle that the wait posts
//
// suspend_slots() makes it queued. Its resume, or resume_slots(), makes it idle, calls the hooks and passes control to
// the coroutine. One frame suffices, because a coroutine has one wait at a time. An eager body of a task may wait
// beside the task: a wait that begins while the frame is queued is a part's, and calls no hook.
//
// Hazard: if another thread resumed the coroutine while a hook of its suspension runs, then the coroutine could leave
// its slots meanwhile. Prevented by the order: the registrar calls the hooks while it holds the claim of the wait.
#include <hocket/base/fatal.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/wait/detail/observed.hpp>
#include <hocket/core/wait/detail/slot_hooks.hpp>
#include <hocket/core/wait/seam/coroutine_slot.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The promise of the frame.
struct slot_resumer : coroutine_header {
  struct frame {
    using promise_type = slot_resumer;
    slot_resumer* promise;
  };
  struct transfer {
    static bool await_ready() noexcept { return false; }
    static std::coroutine_handle<> await_suspend(std::coroutine_handle<slot_resumer> self) noexcept {
      return self.promise().take_coroutine();
    }
    static void await_resume() noexcept {}
  };

  explicit slot_resumer(coroutine_slot& owner) noexcept : slot(owner), pin(&owner, "a slot with hooks") {
    kind = coroutine_kind::root;
  }
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { release_frame(memory, bytes); }
  frame get_return_object() noexcept { return {this}; }
  std::suspend_always initial_suspend() noexcept { return {}; }
  std::suspend_always final_suspend() noexcept { return {}; }
  void return_void() noexcept {}
  void unhandled_exception() noexcept { std::terminate(); }

  std::coroutine_handle<slot_resumer> handle() noexcept {
    return std::coroutine_handle<slot_resumer>::from_promise(*this);
  }
  bool is_queued() const noexcept { return static_cast<bool>(continuation.handle); }
  std::coroutine_handle<> take_coroutine() noexcept { return std::exchange(continuation.handle, {}); }

  static const slot_resumer& resumer_of(const coroutine_slot& slot) noexcept { return *slot.resumer_; }
  // The frame of the innermost slot with hooks; null: there is none.
  static slot_resumer* resumer_of(const context& ctx) noexcept {
    coroutine_slot* slot = ctx.slot();
    while (slot && !slot->resumer_) slot = slot->outer_;
    return slot ? slot->resumer_ : nullptr;
  }
  void call_on_suspend() const noexcept {
    for (coroutine_slot* entered = &slot; entered; entered = entered->outer_)
      if (entered->kind_->on_suspend) entered->kind_->on_suspend(*entered);
  }
  void call_on_resume() const noexcept {
    this_thread().ctx = ctx;
    resume_from(&slot);
  }

  coroutine_slot& slot;
  const stack_pin pin;

 private:
  static void resume_from(coroutine_slot* inner) noexcept {
    if (inner->outer_) resume_from(inner->outer_);
    if (inner->kind_->on_resume) inner->kind_->on_resume(*inner);
  }
};

namespace {

slot_resumer::frame call_hooks(coroutine_slot& slot) {
  for (;;) {
    slot_resumer::resumer_of(slot).call_on_resume();
    co_await slot_resumer::transfer{};
  }
}

context* context_of_slots() noexcept {
  context* const ctx = this_thread().ctx;
  return ctx && ctx != &context::root() ? ctx : nullptr;
}

}  // namespace

coroutine_slot::coroutine_slot(const slot_kind& kind) : kind_(&kind) {
  context* const ctx = context_of_slots();
  if (!ctx) return;
  if (kind.has_hooks()) {
    resumer_ = call_hooks(*this).promise;
    add_hooked_slot();
  }
  outer_ = ctx->slot_;
  owner_name_ = ctx->name();
  owner_ = ctx;
  ctx->slot_ = this;
}

void coroutine_slot::leave() noexcept {
  expect_own_code();
  std::exchange(owner_, nullptr)->slot_ = outer_;
  if (!resumer_) return;
  std::exchange(resumer_, nullptr)->handle().destroy();
  remove_hooked_slot();
}

// The owner may be gone, so it is compared only.
void coroutine_slot::expect_own_code() const noexcept {
  if constexpr (!misuse_checks) return;
  const context& running = current_context();
  if (&running == owner_ && owner_->slot_ == this) [[likely]]
    return;
  std::array<char, 320> text{};
  std::snprintf(text.data(), text.size(),
                "a slot \"%.60s\" of the coroutine \"%.80s\" was left by the code of \"%.80s\"%s", kind_->name,
                owner_name_, running.name(), &running == owner_ ? ", before a slot inside of it" : "");
  fatal(text.data(), "destroy a slot in the code that has made it, the last one first: keep it in a local variable");
}

std::coroutine_handle<> suspend_slots(context& ctx, std::coroutine_handle<> coroutine) noexcept {
  slot_resumer* const resumer = slot_resumer::resumer_of(ctx);
  if (!resumer || resumer->is_queued() || !ctx.coroutine()) return coroutine;
  resumer->call_on_suspend();
  resumer->ctx = &ctx;
  resumer->continuation.handle = coroutine;
  return resumer->handle();
}

void resume_slots(const context& ctx, std::coroutine_handle<> posted) noexcept {
  slot_resumer* const resumer = slot_resumer::resumer_of(ctx);
  if (!resumer || resumer->handle() != posted) return;
  [[maybe_unused]] const std::coroutine_handle<> coroutine = resumer->take_coroutine();
  resumer->call_on_resume();
}

void report_left_slot(const context& ended) noexcept {
  std::array<char, 240> text{};
  std::snprintf(text.data(), text.size(), "the coroutine \"%.80s\" has ended, and not left its slot \"%.60s\"",
                ended.name(), ended.slot()->kind().name);
  fatal(text.data(), "a slot ends in the coroutine that has made it: keep it in a local variable");
}

}}}  // namespace hocket::detail
