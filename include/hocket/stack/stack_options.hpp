// What stacks can be asked to be, and what one stack is.
//
// A stack of the usual layout, `guarded`, and one of a `dense` slab:
//
//     low address                                                                                high address
//     | guard page | canary | usable ...................................... top | colour offset |   one stride
//                  | canary | usable ...................................... top | colour offset |   one stride
//
// Size classes. What is asked for is rounded up to a power of two from 4 KiB to 1 GiB (and to whole pages), so that
// everybody who asks for about the same shares. A size is address space: a page is paid for when it is touched.
//
// Colour. Stacks whose size is a power of two would put every top into the same few cache sets; so the tops are
// staggered: by multiples of 320 bytes within an extra page of 3 KB and some (48 sets of 64; the rest of the page keeps
// small stacks on one page), in a dense slab by multiples of 64 bytes within an eighth of the size, at most 2 KB, which
// is taken off it.
//
// Stride. A guarded stack takes an odd number of pages of address space, so that the tops of many use all sets of a
// translation buffer: with an even number they would use half of them (docs/decisions/021). The page that makes the
// number odd is usable.
//
// Guards. MADV_GUARD_INSTALL (Linux 6.13) marks pages without splitting the mapping; before that mprotect, which costs
// one mapping per stack and ends at half of vm.max_map_count. `guard::required` is an error there; `guard::preferred`
// goes on with a canary instead, and counts. A canary is sixteen bytes at the low end, compared at each switch to the
// coroutine and at its end: it tells of an overflow after the fact, and only of one that wrote there.
//
// A guard page stops what touches it. A single frame larger than a page can jump over it: compile what runs on
// coroutines with -fstack-clash-protection. On riscv64, where g++ before 15 and clang before 20 take that option and do
// nothing, a guard is 64 KiB.
#pragma once
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/base/detail/time_point.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

class clock_source;
class stack_source;

enum class guard : std::uint8_t {
  required,   // a guard page or an error
  preferred,  // a guard page, else a canary (counted in the statistics)
  canary      // no guard page: a canary
};

// How the stacks of a depot lie in memory.
enum class stack_layout : std::uint8_t {
  guarded,  // each with its guard, as `protection` says, and small pages
  dense,    // for very many small ones: nothing between them, a canary each (`protection` does not count), huge pages
            // where the system gives them
  copied    // some hundred share one, which is guarded: the frames of all but one are saved elsewhere
            // (fiber/detail/packing.hpp). For the coroutines of one thread
};

// What a depot does that has lent as many stacks as it may.
enum class at_limit : std::uint8_t {
  error,  // resource_unavailable_try_again
  wait    // a spawned fiber waits, unbegun, until a stack comes back; for others it is the error
};

// What may be said of a depot, or of a pool with a depot of its own.
struct stack_options {
  std::size_t stack_size = 64 * 1024;  // usable bytes, rounded up to a class; with stack_layout::dense all bytes
  std::size_t limit = 0;               // most stacks alive at once; 0: as many as memory allows
  guard protection = guard::required;
  stack_layout layout = stack_layout::guarded;
  std::size_t limit_bytes = 0;  // the same in bytes of stack_size; 0: no limit. The lower of the two counts
  at_limit when_full = at_limit::error;
  bool measure = false;        // of a pool's own depot: stack_statistics::high_water (stack/detail/high_water.hpp)
  std::size_t keep = 64;       // free stacks that decay leaves warm; or
  std::size_t keep_bytes = 0;  // so many bytes of stack_size, if that is more
  duration decay = std::chrono::seconds(1);  // what was not needed for so long is given back; max(): never
  const clock_source* clock = nullptr;        // by which; null: the machine's monotonic clock. Outlives the depot
  stack_source* source = nullptr;            // of the memory (stack_source.hpp); null: the system. Outlives the depot
};
static_assert(detail::owns_nothing<stack_options>);

// One acquired stack. [low, top) is usable; top is 64-byte aligned. `cell` is 64 bytes of the owner's own.
struct stack_ref {
  std::byte* low;
  std::byte* top;
  void* cell;
  bool canary;

  std::size_t size() const noexcept { return static_cast<std::size_t>(top - low); }
};
static_assert(detail::owns_nothing<stack_ref>);

namespace detail {

// The sixteen bytes at the low end of a stack without a guard page.
inline constexpr std::size_t canary_size = 16;
inline constexpr std::uint64_t canary_words[2] = {0x9a3c5e7fb1d20846u, 0x46820d1bf7e5c3a9u};
static_assert(sizeof canary_words == canary_size);

void write_canary(std::byte* low) noexcept;
// In line: it is asked at each switch to such a stack.
inline bool canary_intact(const std::byte* low) noexcept {
  std::uint64_t found[2];
  __builtin_memcpy(found, low - canary_size, canary_size);
  return found[0] == canary_words[0] && found[1] == canary_words[1];
}

// A free stack as magazines hold it: two words. The rest follows from them and the depot's constants, which takes less
// than to load it.
struct free_stack {
  std::uintptr_t cell;  // bit 0: it has a canary
  std::byte* top;
};

// What all stacks of a depot have in common.
struct stack_geometry {
  std::size_t stride;     // bytes from one stack to the next
  std::size_t guard;      // of these, at the low end: the guard page
  std::uint32_t colours;  // how many places a top has, each a cache line below the other
  std::uint32_t turn;     // how far each goes on from the one before: a fraction of all, times 2 to the 32
  bool shared = false;    // the stacks of a slab are one

  static constexpr std::uint32_t turn_of(std::uint32_t step, std::uint32_t colours) noexcept {
    return static_cast<std::uint32_t>(((std::uint64_t{step} << 32) + colours - 1) / colours);
  }
  // How far below the end of its stride the top of that stack is. A remainder would do, too, but a division takes
  // longer than all else that finding a fiber's record does.
  std::size_t colour(std::size_t number) const noexcept {
    const std::uint32_t part = static_cast<std::uint32_t>(number) * turn;
    return (std::uint64_t{part} * colours >> 32) * 64;
  }

  // Tops lie in the last 4 KiB of a stride, and strides end at multiples of 4 KiB, whatever the page size.
  static constexpr std::size_t granule = 4096;

  [[gnu::always_inline]] stack_ref stack(free_stack from) const noexcept {
    const auto end = (reinterpret_cast<std::uintptr_t>(from.top) + granule - 1) & ~std::uintptr_t{granule - 1};
    const std::uintptr_t canary = from.cell & 1;
    std::byte* low = from.top - (reinterpret_cast<std::uintptr_t>(from.top) - end + stride - guard);
    return {low + canary * canary_size, from.top, reinterpret_cast<void*>(from.cell - canary), canary != 0};
  }
};

}  // namespace detail

}}  // namespace hocket
