#include <hocket/base/fatal.hpp>
#include <hocket/stack/stack_pool.hpp>

#include "stack/slab.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace hocket::inline HOCKET_ABI {
namespace {

constexpr std::size_t first_slab = 16;
constexpr std::size_t slab_bytes = std::size_t{4} << 30;  // address space, not memory

std::size_t usable_size(std::size_t asked) {
  if (asked == 0)
    throw std::system_error(
        std::make_error_code(std::errc::invalid_argument),
        "hocket: stack_size is 0: give the bytes that the deepest call chain needs (64 KiB is usual)");
  if (asked > stack_pool::maximum_size)
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "hocket: stack_size is above 1 GiB: is it given in bytes?");
  std::size_t size = std::max(asked, stack_pool::minimum_size);
  return (size + stack_slab::page - 1) / stack_slab::page * stack_slab::page;
}

}  // namespace

stack_pool::stack_pool(stack_options options)
    : options_(options), stride_(stack_slab::stride_for(usable_size(options.stack_size))) {
  options_.stack_size = usable_size(options.stack_size);
}

stack_pool::~stack_pool() {
  expects(counts_.live == 0, "a stack_pool was destroyed while coroutines live on its stacks",
          "destroy the coroutines first: declare the pool before them");
  while (stack_slab* slab = slabs_) {
    slabs_ = slab->next();
    stack_slab::destroy(slab);
  }
  delete[] free_;
}

stack_statistics stack_pool::statistics() const noexcept { return counts_; }

stack_pool& stack_pool::pool_of(void* cell) noexcept { return stack_slab::of(cell).owner(); }
stack_ref stack_pool::stack_of(void* cell) noexcept { return stack_slab::of(cell).stack_of(cell); }

result<stack_ref> stack_pool::carve() noexcept {
  if (!slabs_ || slabs_->full())
    if (std::error_code error = grow()) return failure(error);
  auto stack = slabs_->carve(options_.protection);
  if (!stack) return stack;
  ++counts_.fresh;
  count_acquired();
  if (stack->canary && options_.protection == guard::preferred) ++counts_.unguarded;
  return stack;
}

// Doubles: few mappings for many stacks, little address space for few. A slab stays below `slab_bytes`, unless one
// stack alone is larger.
std::error_code stack_pool::grow() noexcept {
  std::size_t held = counts_.live + counts_.pooled;
  std::size_t count =
      std::min({std::max(first_slab, held), stack_slab::most, std::max<std::size_t>(1, slab_bytes / stride_)});
  if (options_.limit != 0) count = std::min(count, options_.limit - held);
  auto slab = stack_slab::create(*this, stride_, count, held);
  if (!slab && count > 1)
    slab = stack_slab::create(*this, stride_, 1, held);  // address space is scarce: take what is there
  if (!slab) return slab.error();
  if (!make_room(held + (*slab)->count())) {
    stack_slab::destroy(*slab);
    return std::make_error_code(std::errc::not_enough_memory);
  }
  (*slab)->link(slabs_);
  slabs_ = *slab;
  ++counts_.slabs;
  counts_.reserved += (*slab)->reserved();
  return {};
}

// So that release() never allocates.
bool stack_pool::make_room(std::size_t stacks) noexcept {
  if (stacks <= free_room_) return true;
  auto* larger = new (std::nothrow) stack_ref[stacks];
  if (!larger) return false;
  std::copy_n(free_, counts_.pooled, larger);
  delete[] std::exchange(free_, larger);
  free_room_ = stacks;
  return true;
}

}  // namespace hocket::inline HOCKET_ABI
