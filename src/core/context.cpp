#include <hocket/core/context.hpp>

#include <algorithm>

namespace hocket::inline HOCKET_ABI {

context_ptr::context_ptr(context& shared) noexcept : ctx_(&shared) { shared.retain(); }

context_ptr::~context_ptr() {
  if (ctx_) ctx_->release();
}

context::context(context* parent, const context_options& options, std::source_location spawned, scheduled* strand,
                 disposer dispose) noexcept
    : parent_(parent ? context_ptr(*parent) : context_ptr()),
      stop_(options.stop || !parent ? options.stop : parent->stop_),
      deadline_(parent ? std::min(options.deadline, parent->deadline_) : options.deadline),
      name_(options.name ? options.name
            : parent     ? parent->name_
                         : "unnamed"),
      spawned_(spawned),
      strand_(strand || !parent ? strand : parent->strand_),
      dispose_(dispose) {}

context::context(context& parent, const context_options& options, std::source_location spawned, beside_others,
                 disposer dispose) noexcept
    : parent_(parent),
      stop_(options.stop ? options.stop : parent.stop_),
      deadline_(std::min(options.deadline, parent.deadline_)),
      name_(options.name ? options.name : parent.name_),
      spawned_(spawned),
      strand_(nullptr),
      dispose_(dispose) {}

scheduled* context::coroutine() const noexcept {
  const context* at = this;
  while (at && !at->strand_) at = at->parent();
  return at ? at->strand_ : nullptr;
}

struct context::plain final : context {
  plain(context& above, const context_options& own, std::source_location where) noexcept
      : context(&above, own, where, nullptr, &plain::free) {}
  plain(context& above, const context_options& own, std::source_location where, beside_others) noexcept
      : context(above, own, where, beside_others{}, &plain::free) {}
  static void free(context& self) noexcept { delete static_cast<plain*>(&self); }

  // The pointer holds the only reference; the object was born with one.
  static context_ptr hold(plain* made) noexcept {
    context_ptr child(*made);
    child->release();
    return child;
  }
};

context_ptr context::child_of(context& parent, const context_options& options, std::source_location spawned) {
  return plain::hold(new plain(parent, options, spawned));
}

context_ptr context::child_beside_others(context& parent, const context_options& options,
                                         std::source_location spawned) {
  return plain::hold(new plain(parent, options, spawned, beside_others{}));
}

context& context::root() noexcept {
  // Never destroyed: coroutines may be destroyed during static destruction.
  alignas(context) static unsigned char storage[sizeof(context)];
  static context* const root = new (storage) context(nullptr, {}, {}, nullptr, [](context&) noexcept {});
  return *root;
}

void context::retain() noexcept {
  // ORDER: relaxed, pairs with nothing: the caller holds a reference already.
  references_.fetch_add(1, std::memory_order_relaxed);
}

void context::release() noexcept {
  // A loop, because a line of ancestors can be longer than the stack is deep for a recursion.
  context* mine = this;
  // ORDER: acq_rel, pairs with the fetch_sub of the other owners in release(): the last one deletes after them all.
  while (mine && mine->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    context* parent = std::exchange(mine->parent_.ctx_, nullptr);
    mine->dispose_(*mine);
    mine = parent;
  }
}

}  // namespace hocket::inline HOCKET_ABI
