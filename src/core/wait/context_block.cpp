#include <hocket/base/fatal.hpp>
#include <hocket/core/wait/seam/context_block.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// The own context of the running fiber; null outside of fibers.
context* own_context_of_fiber() noexcept {
  strand_state* self = current_context().strand();
  const bool own = self && self->kind() == coroutine_kind::fiber && self == &current_context();
  return own && !this_thread().eager ? self : nullptr;
}

// Code that still uses the ended context finds the outer state there.
void give_back(context& inner, const context& outer) noexcept {
  inner.change({outer.stop(), outer.deadline(), outer.bindings()});
}

}  // namespace

context_block::context_block(inheritance inherited)
    : own_(own_context_of_fiber()), bound_(inherited.bindings.get()), stop_(inherited.stop) {
  if (own_) {
    before_ = own_->change(std::move(inherited));
  } else {
    inner_ = context::child_with(current_context(), std::move(inherited));
    outer_ = std::exchange(this_thread().ctx, inner_.get());
  }
}

context_block::~context_block() {
  const context* expected = own_ ? own_ : inner_.get();
  expects(&current_context() == expected && expected->bindings().get() == bound_ && expected->stop() == stop_,
          "a block with a context of its own was left while another one was under way",
          "a raw coroutine must not yield in with() or shielded(): its owner would go on in the block");
  if (own_) {
    own_->change(std::move(before_));
  } else {
    this_thread().ctx = outer_;
    give_back(*inner_, current_context());
  }
}

void context_entry::enter(coroutine_header& task) noexcept {
  header_ = &task;
  outer_ = std::exchange(task.ctx, inner_.get());
  before_ = std::exchange(this_thread().ctx, inner_.get());
}

// A task that is destroyed while it waits does not change the current context, which belongs to other code.
void context_entry::leave() noexcept {
  header_->ctx = outer_;
  give_back(*inner_, *outer_);
  if (thread_state& thread = this_thread(); thread.ctx == inner_.get()) thread.ctx = before_;
}

stop_shield::stop_shield(const context& outer) noexcept : bindings_(outer.bindings()) {
  if (outer.stop()) link_.emplace(*outer.stop(), stop_, min_stop_level::kill);
}

}}}  // namespace hocket::detail
