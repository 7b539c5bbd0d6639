// Hibernation: a fiber that waits for long takes only the bytes of its frames, instead of pages.
//
//   spawn(lp, {.name = "idle client", .hibernate_after = 10s}, serve, client);   // packed when it waits for longer
//   hibernate_parked();                                                         // now: memory is short
//   hibernate(coroutine);                                                       // a raw coroutine, by its owner
//
// Guarantees.
// - The live frames of the fiber are saved on the heap, and the pages of its stack are released.
// - A resume, a kill and a destruction first restore the frames to the same addresses. The fiber notices nothing.
// - A fiber hibernates between one and two times `hibernate_after` after it has begun to wait, on the clock of its
//   loop.
// - A timer checks 256 fibers, and the next 256 a millisecond later, so a loop with very many fibers is not delayed.
//
// Cost. Two system calls for 64 fibers, and a page fault and a system call for each restored fiber. It pays for waits
// of seconds.
//
// Do not let other code write to a stack that may hibernate. Waits of hocket take care of that: a fiber keeps its stack
// while it waits for an object on that stack, while it awaits a task (which may refer to its variables), and while it
// has a scope in its frames. The hazard: if a fiber hands a pointer to one of its variables to another thread, to the
// kernel or to another coroutine, and then waits for something else, then an access through that pointer faults. On a
// kernel without guard markers (before Linux 6.13) the access is lost instead; it is also lost on the up to 63 stacks
// that are packed together with a stack that has locked pages. Prevented by allocating that variable elsewhere.
// The stack of a raw coroutine is not checked: it is the owner's responsibility.
//
// Limits. These do not hibernate: fibers inside a call_on_stack, with more than 16 KiB of frames, or spawned as dense
// or copied; all fibers on the back end `thread`. The high-water mark of a stack (fiber/stack_use.hpp) restarts at each
// restore.
#pragma once
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/detail/hibernation_statistics.hpp>
#include <hocket/fiber/detail/packing.hpp>
#include <concepts>

namespace hocket { inline namespace HOCKET_ABI {

// Returns the figures of the calling thread. Any thread.
hibernation_statistics hibernation_usage() noexcept;

// Hibernates every fiber of the calling thread that was spawned with `hibernate_after`, waits now and can be packed.
// Returns their number. Linear in their number. Do not call it inside an await_suspend.
std::size_t hibernate_parked() noexcept;

// Hibernates a raw coroutine, on its own thread; the next resume restores it. Returns false if it is empty, running or
// finished, hibernates already, or cannot be packed (above).
bool hibernate(any_coroutine& coroutine) noexcept;

// Hibernates all coroutines of a multi-pass range, with fewer system calls. Returns the number that hibernated.
template <class Range>
  requires requires(Range& range) {
    { *range.begin() } -> std::convertible_to<any_coroutine&>;
  }
std::size_t hibernate(Range& coroutines) noexcept {
  detail::packing_batch batch;
  std::size_t packed = 0;
  auto later = coroutines.begin();
  const auto end = coroutines.end();
  for (int ahead = 0; ahead < 8 && later != end; ++ahead) ++later;
  for (any_coroutine& each : coroutines) {
    if (later != end) {
      static_cast<any_coroutine&>(*later).prefetch();
      ++later;
    }
    packed += each.pack(batch);
  }
  return packed;
}

}}  // namespace hocket
