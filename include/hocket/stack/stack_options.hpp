// Options, layouts and limits of stacks.
//
// A stack of the usual layout, `guarded`, and a stack of a `dense` slab:
//
//     low address                                                                                high address
//     | guard page | canary | usable ...................................... top | colour offset |   one stride
//                  | canary | usable ...................................... top | colour offset |   one stride
//
// Size classes. A size is rounded up to a power of two from 4 KiB to 1 GiB (and to whole pages), so that users of
// similar sizes share stacks. A size is address space: a page takes memory only when it is touched.
//
// Colour. If all tops had the same offset, then stacks of a power of two would put every top into the same few cache
// sets. Prevented by staggered tops: by multiples of 320 bytes within an extra page of about 3 KB (48 sets of 64; the
// rest of the page keeps small stacks on one page); in a dense slab by multiples of 64 bytes within an eighth of the
// size, at most 2 KB, which reduces the usable size.
//
// Stride. A guarded stack takes an odd number of pages of address space, so that the tops of many stacks use all sets
// of a translation buffer. With an even number they would use half of them (docs/decisions/021). The page that makes
// the number odd is usable.
//
// Guards. MADV_GUARD_INSTALL (Linux 6.13) marks pages without splitting the mapping. Older kernels use mprotect, which
// costs one mapping per stack and fails at half of vm.max_map_count. Then `guard::required` returns an error, and
// `guard::preferred` uses a canary instead, and counts it. A canary is sixteen bytes at the low end. It is compared at
// each switch to the coroutine and at its end: it detects an overflow after the fact, and only if the overflow wrote
// there.
//
// Limits. A guard page stops only an access to that page. A single frame larger than a page can jump over it: compile
// the code of coroutines with -fstack-clash-protection. On riscv64 a guard is 64 KiB, because g++ before 15 and clang
// before 20 accept that option there without an effect.
#pragma once
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/base/seam/time_point.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

class clock_source;
class stack_source;

// The protection of a stack against overflow.
enum class guard : std::uint8_t {
  required,   // a guard page or an error
  preferred,  // a guard page, else a canary (counted in the statistics)
  canary      // no guard page: a canary
};

// The layout of a depot's stacks in memory.
enum class stack_layout : std::uint8_t {
  guarded,  // each stack has a guard by `protection`, and small pages
  dense,    // for very many small stacks: no gaps, a canary each (`protection` is ignored), huge pages if the system
            // has them
  copied    // some hundred coroutines of one thread share one guarded stack: the frames of all but one are saved
            // elsewhere (fiber/detail/packing.hpp)
};

// The behaviour of a depot at its limit.
enum class at_limit : std::uint8_t {
  error,  // resource_unavailable_try_again
  wait    // a spawned fiber waits to start until a stack is released; all others get the error
};

// Options for stack_depot, and for a stack_pool with its own depot.
struct stack_options {
  std::size_t stack_size = 64 * 1024;  // usable bytes, rounded up to a class; with stack_layout::dense all bytes
  std::size_t limit = 0;               // maximum of stacks alive at once; 0: as many as memory allows
  guard protection = guard::required;
  stack_layout layout = stack_layout::guarded;
  std::size_t limit_bytes = 0;  // the limit in bytes of stack_size; 0: no limit. The lower of both limits applies
  at_limit when_full = at_limit::error;
  bool measure = false;        // for a pool's own depot: stack_statistics::high_water (stack/seam/inspection.hpp)
  std::size_t keep = 64;       // free stacks that decay leaves warm
  std::size_t keep_bytes = 0;  // bytes of stack_size that decay leaves warm. The higher of both applies
  duration decay = std::chrono::seconds(1);  // stacks not needed for this time are released; max(): never
  const clock_source* clock = nullptr;       // of decay; null: the machine's monotonic clock. Outlives the depot
  stack_source* source = nullptr;            // of memory (stack_source.hpp); null: the system. Outlives the depot
};
static_assert(detail::owns_nothing<stack_options>);

// One acquired stack. [low, top) is usable; top is 64-byte aligned. `cell` is 64 bytes for the owner's data.
struct stack_ref {
  std::byte* low;
  std::byte* top;
  void* cell;
  bool canary;

  std::size_t size() const noexcept { return static_cast<std::size_t>(top - low); }
};
static_assert(detail::owns_nothing<stack_ref>);

namespace detail {

// The canary: sixteen bytes at the low end of a stack without a guard page.
inline constexpr std::size_t canary_size = 16;
inline constexpr std::uint64_t canary_words[2] = {0x9a3c5e7fb1d20846u, 0x46820d1bf7e5c3a9u};
static_assert(sizeof canary_words == canary_size);

void write_canary(std::byte* low) noexcept;
// Inline: each switch to a stack with a canary calls it.
inline bool canary_intact(const std::byte* low) noexcept {
  std::uint64_t found[2];
  __builtin_memcpy(found, low - canary_size, canary_size);
  return found[0] == canary_words[0] && found[1] == canary_words[1];
}

// A free stack in a magazine: two words. The other values follow from them and the depot's constants, which is cheaper
// than a load.
struct free_stack {
  std::uintptr_t cell;  // bit 0: the stack has a canary
  std::byte* top;
};

// The constants of all stacks of a depot.
struct stack_geometry {
  std::size_t stride;     // bytes from one stack to the next
  std::size_t guard;      // bytes of the guard page, at the low end of the stride
  std::uint32_t colours;  // the number of places of a top, a cache line apart
  std::uint32_t turn;     // the step from one stack's colour to the next: a fraction of all colours, times 2 to the 32
  bool shared = false;    // all stacks of a slab are one stack

  static constexpr std::uint32_t turn_of(std::uint32_t step, std::uint32_t colours) noexcept {
    return static_cast<std::uint32_t>(((std::uint64_t{step} << 32) + colours - 1) / colours);
  }
  // Returns the distance of that stack's top from the end of its stride. No remainder: a division takes longer than all
  // other work to find a fiber's record.
  std::size_t colour(std::size_t number) const noexcept {
    const std::uint32_t fraction = static_cast<std::uint32_t>(number) * turn;
    return (std::uint64_t{fraction} * colours >> 32) * 64;
  }

  // Tops lie in the last 4 KiB of a stride, and strides end at multiples of 4 KiB, whatever the page size.
  static constexpr std::size_t granule = 4096;

  [[gnu::always_inline]] stack_ref stack(free_stack free) const noexcept {
    const auto end = (reinterpret_cast<std::uintptr_t>(free.top) + granule - 1) & ~std::uintptr_t{granule - 1};
    const std::uintptr_t canary = free.cell & 1;
    std::byte* low = free.top - (reinterpret_cast<std::uintptr_t>(free.top) - end + stride - guard);
    return {low + canary * canary_size, free.top, reinterpret_cast<void*>(free.cell - canary), canary != 0};
  }
};

}  // namespace detail

}}  // namespace hocket
