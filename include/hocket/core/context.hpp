// The context of a coroutine: what it inherits from the one that started it.
//
// Every coroutine carries one context pointer. An awaited child shares its parent's; a spawned coroutine shares its
// spawner's, or gets a context of its own when an option overrides something. Contexts are counted, because a spawned
// coroutine may outlive its spawner; but that of a spawned coroutine does not count its parent, which is its target's
// and so outlives its run: afterwards parent() is not to be asked. The stop source is not owned: the scope or handle
// that owns it outlives the coroutines under it. Contexts are immutable after their construction, but for two: a block
// of code in a fiber that wants another context changes the fiber's own; and the context of a block that has ended
// becomes as the one around it (core/detail/context_block.hpp).
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/detail/literal_name.hpp>
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/core/detail/context_binding.hpp>
#include <hocket/core/detail/current.hpp>
#include <source_location>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

class context;

namespace detail {
class scheduled;
}  // namespace detail

class stop_source;

// Owns one reference.
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

// What a child overrides; the rest it takes from its parent.
struct context_options {
  literal_name name{};
  stop_source* stop = nullptr;
  time_point deadline = time_point::max();
};
static_assert(detail::owns_nothing<context_options>);

// What waits and children take from a context. It owns a reference, so it is no aggregate.
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

class context {
 public:
  // A child of `parent`. Its deadline is the earlier of the two: a child cannot outwait its parent. Throws bad_alloc.
  [[nodiscard]] static context_ptr child_of(context& parent, const context_options& options,
                                            std::source_location spawned = std::source_location::current());

  // The same for several that run beside each other: without a strand (see below).
  [[nodiscard]] static context_ptr child_beside_others(context& parent, const context_options& options,
                                                       std::source_location spawned);

  // The same for all that is forked below a coroutine (coro/fork_join.hpp). Throws bad_alloc.
  [[nodiscard]] static context_ptr child_of_forks(context& parent);

  // The same with all that is inherited from it given, whatever the parent has.
  [[nodiscard]] static context_ptr child_with(context& parent, inheritance own, std::source_location spawned = {});

  // The context of code that runs in no coroutine: no stop, no deadline, no name. Never freed.
  static context& root() noexcept;

  context* parent() const noexcept { return parent_; }
  stop_source* stop() const noexcept { return given_.stop; }
  time_point deadline() const noexcept { return given_.deadline; }
  const detail::binding_ptr& bindings() const noexcept { return given_.bindings; }
  const char* name() const noexcept { return name_; }                        // the nearest name upward; never null
  const std::source_location& spawned() const noexcept { return spawned_; }  // line 0: not told

  // The nearest scheduled coroutine upward: the one that this context, or a context around it, was made for. Null
  // where no spawn has led to. Linear in the number of groups (when_all) in between.
  detail::scheduled* coroutine() const noexcept;

  // The same, if what runs under this context is all that runs of it. Null for the children of a when_all, which run
  // beside each other: what they wait for, hold and unwind is not to be told of the coroutine as a whole.
  detail::scheduled* strand() const noexcept { return strand_; }

  // The address of coroutine(), for a thread that looks at `other` from outside: it may be given up meanwhile, or may
  // be gone, so the answer is to be compared only. Null: there is none, or the system does not let the process look
  // (base/detail/copy_memory.hpp).
  static const void* coroutine_of(const context* other) noexcept;

  // The nearest context upward, or this, that was not made for a block of code (child_with), which is a part of what
  // runs around it: that of a spawned coroutine, of the children of a when_all, of all that is forked below a
  // coroutine; the root where there is none. Linear in the number of such blocks in between.
  const context& whole() const noexcept {
    const context* at = this;
    while (at->block_) at = at->parent_;
    return *at;
  }

  // Whether several may run beside each other under it: the children of a when_all, or what was forked.
  bool is_of_many() const noexcept { return of_many_; }

  // Whether what runs under it was forked: it goes on wherever what it forked ends.
  bool forks() const noexcept { return forks_; }

  // A word of the coroutine's own, for an extension (ext/gc/include/hocket/gc/slot.hpp). Its own code alone writes it.
  // The context of a part of it (child_of, child_with) begins with a copy.
  void* slot() const noexcept { return slot_; }
  void set_slot(void* word) noexcept { slot_ = word; }

  // Of a fiber's own context, by code that runs on it, or that of a block, at its end. Gives what it was.
  inheritance change(inheritance given) noexcept { return std::exchange(given_, std::move(given)); }

  void retain() noexcept;
  void release() noexcept {
    if (last_reference()) end_unused();
  }

  context(const context&) = delete;
  context& operator=(const context&) = delete;

 protected:
  // For objects that are a context and more; `dispose` frees them when the last reference is gone. Born with one, and
  // without one to its parent. `maker`: the code that makes it, whose bindings it has.
  using disposer = void (*)(context& self) noexcept;
  context(context& parent, const context_options& options, const context& maker, std::source_location spawned,
          detail::scheduled* strand, disposer dispose) noexcept;
  context(context* parent, inheritance given, std::source_location spawned, detail::scheduled* strand,
          disposer dispose) noexcept;
  ~context() = default;

 private:
  struct plain;

  // Gives one up. Who has the only one need not count it down: nobody is left who could copy it.
  bool last_reference() noexcept {
    // ORDER: acquire, pairs with the fetch_sub of the other owners below: the last one deletes after them all.
    if (references_.load(std::memory_order_acquire) == 1) return true;
    // ORDER: acq_rel, pairs with itself and the load above in the other owners.
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  void end_unused() noexcept;

  context* const parent_;
  inheritance given_;
  const char* const name_;
  const std::source_location spawned_;
  detail::scheduled* const strand_;
  bool forks_ = false;
  bool block_ = false;
  bool of_many_ = false;
  bool counts_parent_ = false;
  primitive::atomic<std::uint32_t> references_{1};
  void* slot_ = nullptr;
  const disposer dispose_;
};

inline context::context(context& parent, const context_options& options, const context& maker,
                        std::source_location spawned, detail::scheduled* strand, disposer dispose) noexcept
    : parent_(&parent),
      given_{options.stop ? options.stop : parent.stop(),
             options.deadline < parent.deadline() ? options.deadline : parent.deadline(), maker.bindings()},
      name_(options.name ? options.name.c_str() : parent.name_),
      spawned_(spawned),
      strand_(strand),
      dispose_(dispose) {}

// The running coroutine's context, also while an awaiter's await_suspend runs; never null.
inline context& current_context() noexcept {
  context* const own = detail::this_thread().ctx;
  return own ? *own : context::root();
}

}}  // namespace hocket
