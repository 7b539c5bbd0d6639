// Waits on a stack that may be packed while the fiber waits: the operand and its awaiter are in memory off that stack.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/spawn/seam/foreign_wait.hpp>
#include <hocket/fiber/detail/exposed_memory.hpp>
#include <hocket/fiber/detail/park.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Whether the stack of this fiber may be packed while the fiber waits. Then no other thread may receive an address on
// that stack. Null (no fiber): false.
inline bool stack_moves(const control_block* fiber) noexcept {
  return fiber && (fiber->header.reserved & stack_bit::moves) != 0;
}

// The operand of an await and its awaiter, in memory off the stack. An operand that cannot be moved stays in place.
template <class A>
struct off_stack_wait {
  static constexpr bool is_moved = !std::is_lvalue_reference_v<A> && std::is_move_constructible_v<A>;
  using operand_type = std::conditional_t<is_moved, A, A&&>;
  using wait = typename decltype([] {
    if constexpr (foreign_awaitable<A>) return std::type_identity<foreign_wait<A>>{};
    else return std::type_identity<awaiter_of<A>>{};
  }())::type;

  explicit off_stack_wait(A&& a) : operand(static_cast<A&&>(a)), awaiter(begin(operand)) {}
  static wait begin(operand_type& operand) {
    if constexpr (foreign_awaitable<A>) return foreign_wait<A>(static_cast<A&&>(operand));
    else return get_awaiter(static_cast<A&&>(operand));
  }

  operand_type operand;
  wait awaiter;
};

template <class T>
class off_stack_memory {
 public:
  // Writes zeros, because wait_pin searches these bytes for addresses. Volatile, so that the compiler keeps the stores.
  off_stack_memory() : memory_(allocate()) {
    auto* words = static_cast<volatile std::uintptr_t*>(memory_);
    for (std::size_t i = 0; i < sizeof(T) / sizeof *words; ++i) words[i] = 0;
  }
  off_stack_memory(const off_stack_memory&) = delete;
  off_stack_memory& operator=(const off_stack_memory&) = delete;
  ~off_stack_memory() {
    if constexpr (large) source_release(memory_, sizeof(T), alignof(T));
    else release_frame(memory_, sizeof(T));
  }
  void* get() const noexcept { return memory_; }

 private:
  static constexpr bool large = alignof(T) > 16;
  static void* allocate() {
    if constexpr (large) return source_allocate_or_throw(sizeof(T), alignof(T));
    else return allocate_frame(sizeof(T));
  }
  void* const memory_;
};

template <class A>
exposed_memory exposed_memory_of_wait(const off_stack_wait<A>& wait) noexcept {
  if constexpr (foreign_awaitable<A> || (std::is_reference_v<awaiter_of<A>> && !off_stack_wait<A>::is_moved)) {
    return {&wait, sizeof wait};
  } else {
    return exposed_memory_of(wait.operand);
  }
}

// Pins the stack of a fiber for a wait whose awaiter refers to that stack. Fatal if the stack cannot stay in place.
class wait_pin {
 public:
  wait_pin() noexcept = default;
  wait_pin(control_block& fiber, const exposed_memory& memory) noexcept { begin(fiber, memory); }
  wait_pin(const wait_pin&) = delete;
  wait_pin& operator=(const wait_pin&) = delete;
  ~wait_pin() {
    if (pinned_) [[unlikely]]
      pinned_->unpin();
  }
  void begin(control_block& fiber, const exposed_memory& memory) noexcept;

 private:
  scheduled_fiber* pinned_ = nullptr;
};

// await() on a stack that may be packed.
template <class A>
[[gnu::noinline]] typename sync_result<await_result_t<A>>::type await_off_stack(control_block& fiber, A&& a) {
  off_stack_memory<off_stack_wait<A>> memory;
  struct guard {
    off_stack_wait<A>* wait;
    ~guard() { wait->~off_stack_wait(); }
  } owner{::new (memory.get()) off_stack_wait<A>(std::forward<A>(a))};
  if (!owner.wait->awaiter.await_ready()) {
    wait_pin pin(fiber, exposed_memory_of_wait(*owner.wait));
    suspend_on(&fiber, owner.wait->awaiter);
  }
  return owner.wait->awaiter.await_resume();
}

}}}  // namespace hocket::detail
