// Linux: mmap and madvise.
#include "stack/memory.hpp"

#include <hocket/base/seam/atomic.hpp>

#include "stack/platform/advice.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr int pidfd_self = -10001;  // Linux 6.15, as a thread group; the C library's headers are older

// A kilobyte of the caller's stack, which may be a small one.
constexpr std::size_t most_at_once = 64;

// Valgrind (3.19) knows madvise, but prints a complaint about every process_madvise.
bool under_valgrind() noexcept {
  const char* preloaded = std::getenv("LD_PRELOAD");
  return preloaded && std::strstr(preloaded, "vgpreload");
}

atomic<bool>& vectored() noexcept {
  static atomic<bool> possible{!under_valgrind()};
  return possible;
}

// The number of ranges that the kernel advised in one call. Fewer than `count`: it refused the next one, or the call.
std::size_t advise_vectored(const memory_range* ranges, std::size_t count, int advice) noexcept {
  std::array<::iovec, most_at_once> vector;
  for (std::size_t i = 0; i < count; ++i) vector[i] = {ranges[i].first, ranges[i].size};
  const long taken = ::syscall(SYS_process_madvise, pidfd_self, vector.data(), count, advice, 0);
  if (taken < 0) {
    if (errno == ENOSYS || errno == EBADF || errno == EPERM) refuse_vectored_advice();
    return 0;
  }
  std::size_t bytes = static_cast<std::size_t>(taken), whole = 0;
  while (whole < count && ranges[whole].size <= bytes) bytes -= ranges[whole++].size;
  return whole;
}

}  // namespace

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

std::size_t advise(const memory_range* ranges, std::size_t count, int advice, std::error_code& error) noexcept {
  error = {};
  for (std::size_t done = 0; done < count;) {
    const std::size_t some = std::min(count - done, most_at_once);
    std::size_t taken = 0;
    // ORDER: relaxed, pairs with nothing: a stale `true` costs one refused call.
    if (some > 1 && vectored().load(std::memory_order_relaxed)) taken = advise_vectored(ranges + done, some, advice);
    done += taken;
    if (taken == some) continue;
    // The next range alone: the call returns the reason, or succeeds if only vectored calls fail.
    if (::madvise(ranges[done].first, ranges[done].size, advice) != 0) {
      error = last_error();
      return done;
    }
    ++done;
  }
  return count;
}

std::size_t page_size() noexcept {
  static const std::size_t size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

result<std::byte*> reserve_memory(std::size_t size, std::size_t alignment) noexcept {
  const std::size_t slack = alignment > page_size() ? alignment : 0;
  void* at = ::mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return failure(last_error());
  auto* memory = static_cast<std::byte*>(at);
  if (slack == 0) return memory;
  const std::size_t skip = (alignment - reinterpret_cast<std::uintptr_t>(memory) % alignment) % alignment;
  if (skip) ::munmap(memory, skip);
  if (slack > skip) ::munmap(memory + skip + size, slack - skip);
  return memory + skip;
}

void return_memory(std::byte* memory, std::size_t size) noexcept { ::munmap(memory, size); }

void forbid_huge_pages(memory_range range) noexcept { ::madvise(range.first, range.size, MADV_NOHUGEPAGE); }
void prefer_huge_pages(memory_range range) noexcept { ::madvise(range.first, range.size, MADV_HUGEPAGE); }

std::error_code discard_pages(const memory_range* ranges, std::size_t count) noexcept {
  std::error_code first, error;
  for (std::size_t done = 0; done < count; ++done) {
    done += advise(ranges + done, count - done, MADV_DONTNEED, error);
    if (error && !first) first = error;  // of the next range, which is skipped
  }
  return first;
}

std::size_t resident_bytes(memory_range range) noexcept {
  std::array<unsigned char, 256> pages;
  std::size_t resident = 0;
  for (std::size_t at = 0; at < range.size;) {
    const std::size_t part = std::min(range.size - at, pages.size() * page_size());
    const std::size_t count = (part + page_size() - 1) / page_size();
    if (::mincore(range.first + at, part, pages.data()) != 0) return resident;
    for (std::size_t i = 0; i < count; ++i) resident += (pages[i] & 1) * page_size();
    at += part;
  }
  return resident;
}

void refuse_vectored_advice() noexcept {
  // ORDER: relaxed, pairs with nothing: it saves others a refused call.
  vectored().store(false, std::memory_order_relaxed);
}

}}}  // namespace hocket::detail
