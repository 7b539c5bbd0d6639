// The operating system's side of stacks: what slabs, and stacks that are put to sleep, ask of it. Addresses and sizes
// are multiples of page_size(). Any thread may call any of it.
//
// Everything here that takes ranges takes many at once, because a system call costs as much as the work that it does
// for one stack. The ranges lie in memory of reserve_memory() and do not overlap.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/stack/detail/memory_range.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The machine's: 4 KiB, on some systems of other architectures 16 or 64.
std::size_t page_size() noexcept;

constexpr std::size_t round_up(std::size_t size, std::size_t to) noexcept { return (size + to - 1) / to * to; }

// Address space, readable and writable, zero when first touched, no memory yet. `alignment` is a power of two.
result<std::byte*> reserve_memory(std::size_t size, std::size_t alignment) noexcept;
void return_memory(std::byte* memory, std::size_t size) noexcept;

// Hints: the kernel may have no huge pages, or none to give.
void forbid_huge_pages(memory_range range) noexcept;
void prefer_huge_pages(memory_range range) noexcept;

// The memory of the ranges goes back to the system; they are zero when touched next. Guards in them stay. What cannot
// be dropped (locked memory) stays as it is, and is an error; the others go.
std::error_code discard_pages(const memory_range* ranges, std::size_t count) noexcept;

// How much of the range is memory now. It may have changed when the answer is there.
std::size_t resident_bytes(memory_range range) noexcept;

// --- guards

// How far guard_pages() came.
struct guard_report {
  std::size_t guarded;    // the first so many ranges are guarded
  std::size_t split;      // of these: by mprotect, which took mappings of the process
  std::error_code error;  // why not all; none if all are
};

// Makes every access to the ranges fault, from the kernel's side, too (EFAULT), and drops what they hold.
//
// The size of a stack's guard.
std::size_t guard_size() noexcept;

// A guard is a marker in the page tables (MADV_GUARD_INSTALL, Linux 6.13), which costs no mapping. A kernel may refuse
// markers, and an emulator may say yes and do nothing: so one is tried once per process, and if that page can still be
// read they count as refused. Then, and where one is refused (locked memory), it is mprotect, which splits a mapping in
// two: of these at most half of the process's mappings may go to guards, so that others still get theirs; beyond that,
// not_enough_memory.
guard_report guard_pages(const memory_range* ranges, std::size_t count) noexcept;

// The reverse: the ranges are as fresh from reserve_memory(). Those that are not guarded stay as they are. `split` of
// them are guarded by mprotect, as the report said.
std::error_code unguard_pages(const memory_range* ranges, std::size_t count, std::size_t split = 0) noexcept;

// Guards of which `split` were made by mprotect have gone, with their memory.
void forget_guards(std::size_t split) noexcept;

// Whether guards are markers here; the first call finds out.
bool guards_are_markers() noexcept;

// --- for tests: go on as on another system

// A kernel without guard markers.
void refuse_guard_markers() noexcept;
// One without process_madvise of one's own process (before Linux 6.15), which takes many ranges at once.
void refuse_vectored_advice() noexcept;
// One that says yes to every marker and makes none, as an emulator does: what the trial finds then.
bool guard_trial_finds(bool (*install)(memory_range page) noexcept) noexcept;

}}}  // namespace hocket::detail
