// One slab: the stacks mapping and the cells mapping of stack_pool.hpp.
#pragma once
#include <hocket/stack/stack_pool.hpp>

namespace hocket::inline HOCKET_ABI {

// Lies at the front of its own cells mapping, which is aligned to `alignment`, one cell's size long.
class alignas(64) stack_slab {
 public:
  static constexpr std::size_t cell_size = 64;
  static constexpr std::size_t alignment = 256 * 1024;
  static constexpr std::size_t most = alignment / cell_size - 1;
  static constexpr std::size_t page = 4096;

  // Bytes from one stack to the next for a usable size: its pages, the colour's page and the guard page.
  static std::size_t stride_for(std::size_t stack_size) noexcept { return stack_size + 2 * page; }

  // `before`: how many stacks the owner's other slabs have, so that the colours go on where they end.
  static result<stack_slab*> create(stack_pool& owner, std::size_t stride, std::size_t count,
                                    std::size_t before) noexcept;
  static void destroy(stack_slab* slab) noexcept;

  static stack_slab& of(void* cell) noexcept;

  bool full() const noexcept { return carved_ == count_; }
  std::size_t count() const noexcept { return count_; }
  std::size_t reserved() const noexcept { return stride_ * count_ + alignment; }
  stack_slab* next() const noexcept { return next_; }
  void link(stack_slab* next) noexcept { next_ = next; }
  stack_pool& owner() const noexcept { return *owner_; }

  // The next stack that was never used, with its guard. Errors as stack_pool::acquire.
  result<stack_ref> carve(guard protection) noexcept;
  stack_ref stack_of(void* cell) const noexcept;

 private:
  static constexpr std::size_t guard_batch = 64;

  stack_slab(stack_pool& owner, std::byte* stacks, std::size_t stride, std::size_t count, std::size_t before) noexcept
      : owner_(&owner),
        stacks_(stacks),
        stride_(stride),
        count_(static_cast<std::uint32_t>(count)),
        first_colour_(static_cast<std::uint32_t>(before)) {}

  std::error_code guard_some() noexcept;
  stack_ref at(std::size_t index) const noexcept;
  std::byte* guard_page(std::size_t index) const noexcept { return stacks_ + index * stride_; }

  stack_pool* const owner_;
  std::byte* const stacks_;
  const std::size_t stride_;
  stack_slab* next_ = nullptr;
  const std::uint32_t count_;
  std::uint32_t carved_ = 0;   // handed out at least once
  std::uint32_t guarded_ = 0;  // have a guard page; the others, if carved, have a canary
  std::uint32_t split_ = 0;    // of these: by mprotect
  const std::uint32_t first_colour_;
};
static_assert(sizeof(stack_slab) == stack_slab::cell_size, "a slab's head takes the place of one cell");

}  // namespace hocket::inline HOCKET_ABI
