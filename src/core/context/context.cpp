#include <hocket/core/context.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

context_ptr::context_ptr(context& shared) noexcept : ctx_(&shared) { shared.retain(); }

context_ptr::~context_ptr() {
  if (ctx_) ctx_->release();
}

context::context(context* parent, inheritance inherited, std::source_location spawned, strand_state* strand,
                 disposer dispose) noexcept
    : parent_(parent),
      inherited_(std::move(inherited)),
      name_(parent ? parent->name_ : "unnamed"),
      spawned_(spawned),
      strand_(strand),
      dispose_(dispose) {}

strand_state* context::coroutine() const noexcept {
  const context* ancestor = this;
  while (ancestor && !ancestor->strand_) ancestor = ancestor->parent();
  return ancestor ? ancestor->strand_ : nullptr;
}

struct context::plain final : context {
  plain(context& above, const context_options& own, std::source_location where, strand_state* strand) noexcept
      : context(above, own, above, where, strand, &plain::free) {
    count_parent();
  }
  plain(context& above, inheritance own, std::source_location where) noexcept
      : context(&above, std::move(own), where, above.strand_, &plain::free) {
    forks_ = above.forks_;
    block_ = true;
    count_parent();
  }
  void count_parent() noexcept {
    parent()->retain();
    counts_parent_ = true;
  }
  static void free(context& self) noexcept { delete static_cast<plain*>(&self); }

  // The pointer holds the only reference; the object begins with one.
  static context_ptr hold(plain* object) noexcept {
    context_ptr child(*object);
    child->release();
    return child;
  }
};

context_ptr context::child_of(context& parent, const context_options& options, std::source_location spawned) {
  auto* child = new plain(parent, options, spawned, parent.strand_);
  child->forks_ = parent.forks_;
  child->slot_ = parent.slot_;
  return plain::hold(child);
}

context_ptr context::child_beside_others(context& parent, const context_options& options,
                                         std::source_location spawned) {
  auto* child = new plain(parent, options, spawned, nullptr);
  child->of_many_ = true;
  return plain::hold(child);
}

context_ptr context::child_of_forks(context& parent) {
  auto* child = new plain(parent, {}, {}, nullptr);
  child->forks_ = child->of_many_ = true;
  return plain::hold(child);
}

context_ptr context::child_with(context& parent, inheritance own, std::source_location spawned) {
  auto* child = new plain(parent, std::move(own), spawned);
  child->slot_ = parent.slot_;
  return plain::hold(child);
}

context_ptr context::child_without_slots(context& parent, inheritance own) {
  return plain::hold(new plain(parent, std::move(own), {}));
}

context& context::root() noexcept {
  // Never destroyed: coroutines may be destroyed during static destruction.
  alignas(context) static unsigned char storage[sizeof(context)];
  static context* const root = new (storage) context(nullptr, inheritance{}, {}, nullptr, [](context&) noexcept {});
  return *root;
}

void context::retain() noexcept {
  // ORDER: relaxed, pairs with nothing: the caller holds a reference already.
  references_.fetch_add(1, std::memory_order_relaxed);
}

// A loop, because a chain of ancestors can be too long for a recursion.
void context::end_unused() noexcept {
  context* unused = this;
  do {
    context* parent = unused->counts_parent_ ? unused->parent_ : nullptr;
    unused->dispose_(*unused);
    unused = parent;
  } while (unused && unused->last_reference());
}

}}  // namespace hocket
