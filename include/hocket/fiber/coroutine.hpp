// coroutine<Out(In)>: the raw, asymmetric fiber. Any function that it calls, at any depth, may suspend it.
//
//   coroutine<int(std::string)> talk{[](auto& self, std::string first) {   // resumed with strings, yields ints
//     std::string second = self.yield(int(first.size()));
//     return int(second.size());
//   }};
//   int a = talk.resume("voice"), b = talk.resume("rest");                 // 5, 4; talk.done()
//
// Guarantees.
// - resume(in) runs the body until it yields or returns, and returns the yielded or returned value.
// - An exception that leaves the body leaves that resume(). The coroutine is done then.
// - The destruction of a suspended coroutine unwinds it by an exception of a private type: destructors of its locals
//   run. The body must not swallow that exception. These destructors must not suspend.
// - In and Out may be values (also move-only), references or void. A value travels by one move, from one stack straight
//   to the other.
// - The callable's captures are destroyed when the body has ended.
//
// Do not.
// - Do not return a reference to a capture from the last resume().
// - Do not yield while the body drives other coroutines, for example by a sync_wait on its stack: the driven coroutine
//   would be interrupted in the middle of its run.
//
// Floating point. The environment of <cfenv> belongs to the thread. If the body sets a rounding mode and does not
// restore it before a yield, then the resumer has that mode from then on. Flags that the body raises are visible to the
// resumer. With own_floating_point the coroutine has its own environment: it starts with its creator's, each yield
// restores it, and the resumer's is unchanged. That costs about 100 ns per resume; without the option nothing.
//
// Thread safety. A coroutine belongs to the thread that created it. Only that thread resumes and destroys it.
// Cost. Creation is O(1), and allocates nothing if the pool is warm. A resume and its yield are two stack switches.
// Errors. The constructor throws std::system_error if no stack is available, or the exception of the callable's move.
// Resuming a coroutine that is empty, finished, running or another thread's is a programming error: fatal.
#pragma once
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/core/spawn/seam/return_slot.hpp>
#include <hocket/fiber/detail/fiber_life.hpp>
#include <hocket/fiber/detail/round_trip.hpp>
#include <concepts>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// The state of a coroutine: coroutine::status().
enum class coroutine_status : std::uint8_t {
  empty,      // no coroutine: default-constructed or moved from
  unstarted,  // never resumed
  suspended,  // in a yield
  running,    // the innermost running one of its thread
  resuming,   // has resumed another coroutine and waits for its yield
  finished
};

// Options for coroutine.
struct coroutine_options {
  literal_name name = "coroutine";  // for messages and debuggers
  stack_pool* pool = nullptr;       // a pool of the calling thread; null: its default pool of 64 KiB stacks
  void* user_data = nullptr;
  bool own_floating_point = false;  // the coroutine has its own rounding mode, exception flags and mask (see above)
};
static_assert(detail::owns_nothing<coroutine_options>);

namespace detail {

template <class Out, class In, class F>
class fiber_body;
class packing_batch;

// A value is sent as a pointer to it on the sender's stack. The receiver moves it out.
template <class T>
void* outgoing(T& value) noexcept {
  return const_cast<void*>(static_cast<const volatile void*>(std::addressof(value)));
}
template <class T>
T incoming(void* value) {
  if constexpr (std::is_reference_v<T>) return static_cast<T>(*static_cast<std::remove_reference_t<T>*>(value));
  else if constexpr (!std::is_void_v<T>) return T(std::move(*static_cast<T*>(value)));
}

// A parameter type for T that also exists if T is void.
struct nothing {};
template <class T>
using parameter = std::conditional_t<std::is_void_v<T>, nothing, T>;

}  // namespace detail

// The interface of a coroutine to its own body. Valid inside the body only.
template <class Out, class In>
class coroutine_self {
 public:
  coroutine_self(const coroutine_self&) = delete;
  coroutine_self& operator=(const coroutine_self&) = delete;

  // Passes `out` to the resumer, and returns the argument of the next resume(). Fatal outside of this coroutine, and in
  // a destructor that runs because the coroutine is being destroyed.
  [[gnu::always_inline]] In yield(detail::parameter<Out> out)
    requires(!std::is_void_v<Out>)
  {
    return exchange(detail::outgoing(out));
  }
  [[gnu::always_inline]] In yield()
    requires std::is_void_v<Out>
  {
    return exchange(detail::empty_message(block_));
  }

  const char* name() const noexcept { return record_.name; }
  void* user_data() const noexcept { return record_.user_data; }

 private:
  template <class, class, class>
  friend class detail::fiber_body;
  coroutine_self(detail::fiber_record& record, void* resumer) noexcept
      : block_(*record.block), record_(record), resumer_(resumer) {}

  [[gnu::always_inline]] In exchange(void* out) {
    void* in = detail::park(block_, record_, resumer_, out);
    return detail::incoming<In>(in);
  }

  detail::control_block& block_;
  detail::fiber_record& record_;
  void* resumer_;  // the resumer's record: the target of the next yield
};

namespace detail {

// The result and the callable of a coroutine lie below its record, in this order downward.
template <class Out>
return_slot<Out>& result_below(fiber_record& record) noexcept {
  auto address = reinterpret_cast<std::uintptr_t>(&record) - sizeof(return_slot<Out>);
  return *reinterpret_cast<return_slot<Out>*>(address - address % alignof(std::max_align_t));
}

template <class Out, class In, class F>
class fiber_body {
 public:
  static constexpr std::size_t alignment = alignof(F) < 16 ? 16 : alignof(F);
  static constexpr std::size_t footprint =
      sizeof(fiber_record) + sizeof(return_slot<Out>) + sizeof(F) + alignof(std::max_align_t) + alignment;
  static_assert(alignof(return_slot<Out>) <= alignof(std::max_align_t),
                "an over-aligned result: return it by unique_ptr, or yield a reference to it");

  static F* place(fiber_record& record) noexcept {
    auto address = reinterpret_cast<std::uintptr_t>(&result_below<Out>(record)) - sizeof(F);
    return reinterpret_cast<F*>(address - address % alignment);
  }

  static void entry(void* argument, void* resumer, void* transfer) noexcept {
    auto& record = *static_cast<fiber_record*>(argument);
    record.annotation.on_entry();
    record.block->header.flags |= header_flag::started;
    coroutine_self<Out, In> self(record, resumer);
    run(record, self, transfer);
    finish(record, self.resumer_);
  }

  static void drop(fiber_record& record) noexcept {
    if (!(record.block->header.flags & header_flag::started)) place(record)->~F();
    result_below<Out>(record).~return_slot();
  }

 private:
  // A callable of a few words that may be copied as bytes moves into the frame that runs it. Its captures are then in
  // registers or beside the registers that a yield saves, not on a further cache line that each round trip would touch.
  static constexpr bool in_frame =
      std::is_trivially_copyable_v<F> && std::is_trivially_move_constructible_v<F> && sizeof(F) <= 4 * sizeof(void*);
  using body_type = std::conditional_t<in_frame, F, F&>;

  static body_type take(fiber_record& record) noexcept {
    if constexpr (in_frame) return std::move(*place(record));
    else return *place(record);
  }
  static void run(fiber_record& record, coroutine_self<Out, In>& self, void* transfer) noexcept {
    body_type body = take(record);
    try {
      call(record, body, self, transfer);
      check_unwound(record);
    } catch (const forced_unwind&) {
    } catch (...) {
      check_unwound(record);
      record.error = std::current_exception();
    }
    if constexpr (!in_frame) body.~F();  // on its own stack, like a local of the body; its destructor does not throw
  }
  static void call(fiber_record& record, F& body, coroutine_self<Out, In>& self, void* transfer) {
    if constexpr (std::is_void_v<Out>) {
      invoke(body, self, transfer);
      result_below<Out>(record).set_value();
    } else {
      using returned = decltype(invoke(body, self, transfer));
      static_assert(!std::is_reference_v<Out> || std::is_reference_v<returned>,
                    "coroutine<T&(...)>: the body returns a value, which would be gone: write its return type, -> T&");
      result_below<Out>(record).set_value(invoke(body, self, transfer));
    }
  }
  static decltype(auto) invoke(F& body, coroutine_self<Out, In>& self, [[maybe_unused]] void* transfer) {
    if constexpr (std::is_void_v<In>) return body(self);
    else return body(self, incoming<In>(transfer));
  }
};

template <class Signature>
struct coroutine_types;  // write coroutine<Out(In)> or coroutine<Out()>
template <class O>
struct coroutine_types<O()> {
  using out = O;
  using in = void;
};
template <class O, class I>
struct coroutine_types<O(I)> {
  using out = O;
  using in = I;
};

}  // namespace detail

template <class Signature>
class coroutine;

// The base class of all coroutines, independent of Out and In.
class [[nodiscard]] any_coroutine {
 public:
  any_coroutine(any_coroutine&& other) noexcept
      : block_(std::exchange(other.block_, &detail::vacant_block)), record_(std::exchange(other.record_, nullptr)) {}
  ~any_coroutine() { reset(); }

  // Destroys the coroutine now, and unwinds it if it is suspended. Fatal if it is running, or has resumed the caller.
  void reset() noexcept;

  explicit operator bool() const noexcept { return block_ != &detail::vacant_block; }
  bool done() const noexcept { return *this && block_->finished(); }
  coroutine_status status() const noexcept;

  const char* name() const noexcept { return record_ ? detail::fiber_record::from_block(*block_).name : ""; }
  void* user_data() const noexcept { return record_ ? detail::fiber_record::from_block(*block_).user_data : nullptr; }
  void set_user_data(void* data) noexcept;  // fatal when empty

  // Returns the deepest use of its stack so far, in bytes (fiber/stack_use.hpp); 0 if empty. Any state, its own thread.
  std::size_t stack_high_water() const noexcept;

  // Prefetches the memory of a coroutine that its owner resumes about ten coroutines later, so that this resume does
  // not wait for the memory (with 30,000 coroutines this wait is two fifths of the time). Not needed if coroutines are
  // resumed in the order of their creation, or in the reverse order (fiber/detail/resume_order.hpp). Any state, even
  // empty; its own thread. Changes nothing.
  //
  //   for (std::size_t i = 0; i < order.size(); ++i) {
  //     if (i + 8 < order.size()) all[order[i + 8]].prefetch();
  //     all[order[i]].resume();
  //   }
  void prefetch() const noexcept {
    const auto* parked = static_cast<const std::byte*>(block_->record);
    if (!parked) return;
    hocket::detail::prefetch(parked);
    hocket::detail::prefetch(parked + 64);
  }

  // Used by hibernate().
  bool pack(detail::packing_batch& batch) noexcept;

 protected:
  any_coroutine() noexcept = default;
  any_coroutine& operator=(any_coroutine&& other) noexcept {
    any_coroutine source(std::move(other));  // first: `other` may be a local of the coroutine that reset() destroys
    reset();
    std::swap(block_, source.block_);
    std::swap(record_, source.record_);
    return *this;
  }

  detail::control_block* block_ = &detail::vacant_block;
  detail::fiber_record* record_ = nullptr;  // the record's place while the fiber is not packed
};

// A stackful coroutine that receives In and yields and returns Out; see above.
template <class Signature>
class [[nodiscard]] coroutine : public any_coroutine {
  using Out = typename detail::coroutine_types<Signature>::out;
  using In = typename detail::coroutine_types<Signature>::in;

 public:
  using self = coroutine_self<Out, In>;

  coroutine() noexcept = default;
  coroutine(coroutine&&) noexcept = default;
  coroutine& operator=(coroutine&&) noexcept = default;

  // The first resume calls body(self, in), or body(self) if In is void. The body returns Out.
  template <class F>
    requires(!std::derived_from<std::remove_cvref_t<F>, any_coroutine>)
  explicit coroutine(F&& body) : coroutine(coroutine_options{}, std::forward<F>(body)) {}
  template <class F>
  coroutine(stack_pool& pool, F&& body) : coroutine(coroutine_options{.pool = &pool}, std::forward<F>(body)) {}
  template <class F>
  coroutine(const coroutine_options& options, F&& body) {
    using body_type = detail::fiber_body<Out, In, std::decay_t<F>>;
    detail::fiber_record& record =
        detail::begin_fiber(options.pool, options.name.c_str(), options.user_data, body_type::footprint);
    detail::unless_armed guard{record};
    if (options.own_floating_point) detail::begin_own_floating_point(record);
    ::new (static_cast<void*>(body_type::place(record))) std::decay_t<F>(std::forward<F>(body));
    ::new (static_cast<void*>(&detail::result_below<Out>(record))) detail::return_slot<Out>;
    record.drop_body = &body_type::drop;
    detail::arm_fiber(record, body_type::place(record), &body_type::entry);
    guard.armed = true;
    detail::announce_fiber(record);
    record_ = &record;
    block_ = record.block;
  }

  // Runs the body until it yields or returns, and returns that value; see above.
  [[gnu::always_inline]] Out resume(detail::parameter<In> in)
    requires(!std::is_void_v<In>)
  {
    return exchange(detail::outgoing(in));
  }
  [[gnu::always_inline]] Out resume()
    requires std::is_void_v<In>
  {
    return exchange(detail::empty_message(*block_));
  }

  // Releases the coroutine as a bare handle with the usual resume(), done() and destroy(). Its yielded and returned
  // values are dropped. Afterwards this object is empty. Fatal if it is empty, running or finished.
  [[nodiscard]] std::coroutine_handle<> release()
    requires std::is_void_v<In>
  {
    record_ = nullptr;
    return detail::release_fiber(*std::exchange(block_, &detail::vacant_block));
  }

 private:
  // One round trip. This object may be moved while the body runs, for example in a vector that the body makes grow. So
  // exchange() does not touch it after the switch.
  [[gnu::always_inline]] Out exchange(void* in) {
    detail::control_block& block = *block_;
    void* out = detail::resume_by_owner(block, in);
    if (!out) [[unlikely]]
      return take_result(block);
    return detail::incoming<Out>(out);
  }
  [[gnu::noinline]] static Out take_result(detail::control_block& block) {
    detail::fiber_record& record = detail::fiber_record::from_block(block);
    detail::rethrow_error(record);
    return detail::result_below<Out>(record).take();
  }
};

}}  // namespace hocket
