// Hibernation: a fiber that waits for long costs as many bytes as its frames take, instead of pages.
//
//   spawn(lp, {.name = "idle client", .hibernate_after = 10s}, serve, client);   // packed when it waits for longer
//   hibernate_parked();                                                         // now: memory is short
//   hibernate(coroutine);                                                       // a raw one, by its owner
//
// Its live frames are saved on the heap, and the pages of its stack are given back. Whoever resumes it, kills it or
// destroys it brings them back first, to the same addresses, so it notices nothing. It costs two system calls for
// 64 of them, and a page fault and a system call for each that comes back: worth it for what waits for seconds.
//
// A fiber hibernates between one and two times `hibernate_after` after it has begun to wait, on the clock of its loop.
// An alarm looks at 256 fibers, and at the next 256 a millisecond later, so that a loop with very many is not held up.
// What others write to must not lie on such a stack. Waits of hocket take care of that: a fiber that waits for
// something on its own stack stays where it is for that wait, and so does one that awaits a task (which may refer to
// its variables) or has a scope in its frames. But if it hands a pointer to one of its variables to another thread, to
// the kernel or to another coroutine and then waits for something else, the access faults (on a kernel without guard
// markers, before Linux 6.13, it is lost, and so it is for the up to 63 stacks that are packed together with one that
// has locked pages): allocate such a thing elsewhere.
//
// A stack's high-water mark (fiber/stack_use.hpp) counts from its last waking. A raw coroutine is its owner's: what
// lies on its stack is not looked at.
//
// Fibers that wait inside a call_on_stack, that keep more than 16 KiB of frames, or that were spawned as dense or
// copied are left alone. On the back end `thread` nothing hibernates.
#pragma once
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/detail/packing.hpp>
#include <concepts>

namespace hocket { inline namespace HOCKET_ABI {

// Of the calling thread.
struct hibernation_statistics {
  std::size_t packed = 0;       // fibers that hibernate now
  std::size_t image_bytes = 0;  // what their frames take
  std::uint64_t packs = 0;   // since the thread began
  std::uint64_t unpacks = 0;    // of those, how many came back
};
// Any thread; of the calling one.
hibernation_statistics hibernation_usage() noexcept;

// Hibernates every fiber of the calling thread that was spawned with `hibernate_after`, waits now and can be packed.
// Returns how many that were. Linear in their number. Not to be called inside an await_suspend.
std::size_t hibernate_parked() noexcept;

// Hibernates a raw coroutine, on its own thread; the next resume brings it back. False: it is empty, running or
// finished, hibernates already, or cannot be packed (above).
bool hibernate(any_coroutine& coroutine) noexcept;

// Several at once, which costs fewer system calls, of a range that can be walked twice. Returns how many went.
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
