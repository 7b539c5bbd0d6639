// The context of a coroutine: the stop source, deadline, values and name that it inherits.
//
// Every coroutine refers to one context. An awaited child shares its parent's. A spawned coroutine has a context of its
// own below the context of its target. It inherits the target's name, stop and deadline, and the values of the code
// that calls spawn. The context of a scope is below that of the code that makes the scope, so its children inherit that
// code's name, stop and deadline, too. docs/waits.md has a table.
//
// Lifetime. Contexts are counted, because a spawned coroutine may outlive its spawner.
//   - The context of a spawned coroutine does not count its parent, because the parent is its target's and outlives the
//     run. After the run, do not call parent().
//   - A context does not own its stop source: the owning scope or handle outlives the coroutines under it.
//
// Thread safety. A context is immutable after its construction, with two exceptions
// (core/wait/seam/context_block.hpp). A block of code in a fiber that needs another context changes the fiber's own.
// At the end of a block, its context becomes equal to the one around it.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/core/context/detail/context_binding.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <source_location>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

class context;

namespace detail {
class coroutine_slot;
class strand_state;
}  // namespace detail

class stop_source;

// A pointer to a context that owns one reference.
class context_ptr {
 public:
  context_ptr() noexcept = default;
  explicit context_ptr(context& shared) noexcept;  // adds a reference
  context_ptr(context_ptr&& other) noexcept : ctx_(std::exchange(other.ctx_, nullptr)) {}
  context_ptr& operator=(context_ptr&& other) noexcept {
    std::swap(ctx_, other.ctx_);
    return *this;
  }
  ~context_ptr();
  context& operator*() const noexcept { return *ctx_; }
  context* operator->() const noexcept { return ctx_; }
  context* get() const noexcept { return ctx_; }
  explicit operator bool() const noexcept { return ctx_ != nullptr; }

 private:
  friend class context;
  context* ctx_ = nullptr;
};

// The overrides of a child. It inherits the rest from its parent.
struct context_options {
  literal_name name{};
  stop_source* stop = nullptr;
  time_point deadline = time_point::max();
};
static_assert(detail::owns_nothing<context_options>);

// The part of a context that waits and children inherit. It owns a reference, so it is no aggregate.
struct inheritance {
  inheritance() noexcept = default;
  inheritance(stop_source* source, time_point until, const detail::binding_ptr& values) noexcept
      : stop(source), deadline(until), bindings(values) {}
  inheritance(stop_source* source, time_point until, detail::binding_ptr&& values) noexcept
      : stop(source), deadline(until), bindings(std::move(values)) {}

  stop_source* stop = nullptr;
  time_point deadline = time_point::max();
  detail::binding_ptr bindings;
};

// The inherited state of a coroutine; see above.
class context {
 public:
  // Makes a child of `parent`. Its deadline is the earlier of the two: a child cannot outwait its parent. Throws
  // bad_alloc.
  [[nodiscard]] static context_ptr child_of(context& parent, const context_options& options,
                                            std::source_location spawned = std::source_location::current());

  // Like child_of(), for several children that run concurrently: without a strand (see below).
  [[nodiscard]] static context_ptr child_beside_others(context& parent, const context_options& options,
                                                       std::source_location spawned);

  // Like child_of(), for all forks below a coroutine (coro/fork_join.hpp). Throws bad_alloc.
  [[nodiscard]] static context_ptr child_of_forks(context& parent);

  // Like child_of(), but with the inheritance `own` instead of the parent's.
  [[nodiscard]] static context_ptr child_with(context& parent, inheritance own, std::source_location spawned = {});

  // Like child_with(), but without slots: for an eager body, which may outlive the slots of the code that calls it.
  [[nodiscard]] static context_ptr child_without_slots(context& parent, inheritance own);

  // The context of code outside of coroutines: no stop, no deadline, no name. Never freed.
  static context& root() noexcept;

  context* parent() const noexcept { return parent_; }
  stop_source* stop() const noexcept { return inherited_.stop; }
  time_point deadline() const noexcept { return inherited_.deadline; }
  const detail::binding_ptr& bindings() const noexcept { return inherited_.bindings; }
  const char* name() const noexcept { return name_; }                        // the nearest name upward; never null
  const std::source_location& spawned() const noexcept { return spawned_; }  // line 0: unknown

  // The nearest scheduled coroutine upward, for which this context or a context around it was made. Null if no spawn
  // led here. Linear in the number of groups (when_all) in between.
  detail::strand_state* coroutine() const noexcept;

  // Like coroutine(), if all of the coroutine runs under this context. Null for the concurrent children of a when_all:
  // the waits, locks and unwinding of a child are not those of the coroutine as a whole.
  detail::strand_state* strand() const noexcept { return strand_; }

  // The address of coroutine(), for a thread that inspects `other` from outside. `other` may be released meanwhile, so
  // use the address for comparisons only. Null: no coroutine, or the system forbids the read
  // (base/seam/copy_memory.hpp).
  static const void* coroutine_of(const context* other) noexcept;

  // The nearest context from this one upward that was not made for a block of code (child_with): the context of a
  // spawned coroutine, of the children of a when_all, or of all forks below a coroutine; else the root. A block is a
  // part of the code around it. Linear in the number of blocks in between.
  const context& whole() const noexcept {
    const context* ctx = this;
    while (ctx->block_) ctx = ctx->parent_;
    return *ctx;
  }

  // Whether several coroutines may run concurrently under this context: the children of a when_all, or forks.
  bool is_of_many() const noexcept { return of_many_; }

  // Whether the code under this context was forked. Forked code continues on the thread where its own forks end.
  bool forks() const noexcept { return forks_; }

  // The innermost slot of the coroutine (core/wait/seam/coroutine_slot.hpp); null: none. Only the coroutine's own code
  // enters and leaves slots. A context for a part of the coroutine (child_of, child_with) begins with a copy.
  detail::coroutine_slot* slot() const noexcept { return slot_; }

  // Replaces the inherited state and returns the previous one. Called by code of a fiber for the fiber's own context,
  // or for a block's context at its end.
  inheritance change(inheritance inherited) noexcept { return std::exchange(inherited_, std::move(inherited)); }

  void retain() noexcept;
  void release() noexcept {
    if (last_reference()) end_unused();
  }

  context(const context&) = delete;
  context& operator=(const context&) = delete;

 protected:
  // For derived objects. An object begins with one reference and holds none to its parent. `dispose` frees it when the
  // last reference is released. `maker` is the context of the code that constructs it; the object inherits its
  // bindings.
  using disposer = void (*)(context& self) noexcept;
  context(context& parent, const context_options& options, const context& maker, std::source_location spawned,
          detail::strand_state* strand, disposer dispose) noexcept;
  context(context* parent, inheritance inherited, std::source_location spawned, detail::strand_state* strand,
          disposer dispose) noexcept;
  ~context() = default;

 private:
  friend class detail::coroutine_slot;
  struct plain;

  // Releases one reference. An owner of the only reference skips the decrement, because no other owner could copy it.
  bool last_reference() noexcept {
    // ORDER: acquire, pairs with the fetch_sub of the other owners below: the last owner deletes after all others.
    if (references_.load(std::memory_order_acquire) == 1) return true;
    // ORDER: acq_rel, pairs with itself and the load above in the other owners.
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  void end_unused() noexcept;

  context* const parent_;
  inheritance inherited_;
  const char* const name_;
  const std::source_location spawned_;
  detail::strand_state* const strand_;
  bool forks_ = false;
  bool block_ = false;
  bool of_many_ = false;
  bool counts_parent_ = false;
  primitive::atomic<std::uint32_t> references_{1};
  detail::coroutine_slot* slot_ = nullptr;
  const disposer dispose_;
};

inline context::context(context& parent, const context_options& options, const context& maker,
                        std::source_location spawned, detail::strand_state* strand, disposer dispose) noexcept
    : parent_(&parent),
      inherited_{options.stop ? options.stop : parent.stop(),
                 options.deadline < parent.deadline() ? options.deadline : parent.deadline(), maker.bindings()},
      name_(options.name ? options.name.c_str() : parent.name_),
      spawned_(spawned),
      strand_(strand),
      dispose_(dispose) {}

// The context of the running coroutine, also while an awaiter's await_suspend runs. Never null.
inline context& current_context() noexcept {
  context* const own = detail::this_thread().ctx;
  return own ? *own : context::root();
}

}}  // namespace hocket
