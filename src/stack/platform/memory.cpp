// Linux: mmap, and the two kinds of guard.
#include "stack/memory.hpp"

#include <hocket/base/atomic.hpp>

#include <cerrno>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace hocket::inline HOCKET_ABI {
namespace {

constexpr int madv_guard_install = 102;   // Linux 6.13; the C library's headers are older
constexpr int pidfd_self = -10001;        // Linux 6.14

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

std::error_code install_one_by_one(std::byte* first, std::size_t stride, std::size_t count, std::size_t page) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (::madvise(first + i * stride, page, madv_guard_install) != 0) return last_error();
  return {};
}

// One call for up to `batch` guards. A short or refused call leaves the rest to the caller.
std::size_t install_vectored(std::byte* first, std::size_t stride, std::size_t count, std::size_t page) noexcept {
  constexpr std::size_t batch = 64;
  ::iovec pages[batch];
  std::size_t n = count < batch ? count : batch;
  for (std::size_t i = 0; i < n; ++i) pages[i] = {first + i * stride, page};
  long done = ::syscall(SYS_process_madvise, pidfd_self, pages, n, madv_guard_install, 0);
  return done <= 0 ? 0 : static_cast<std::size_t>(done) / page;
}

std::error_code protect(std::byte* first, std::size_t stride, std::size_t count, std::size_t page) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (::mprotect(first + i * stride, page, PROT_NONE) != 0) return last_error();
  return {};
}

// Whether the kernel knows guard markers; found out by the first use.
atomic<bool> has_guard_markers{true};

}  // namespace

result<std::byte*> reserve_memory(std::size_t size, std::size_t alignment) noexcept {
  std::size_t span = size + alignment;
  void* at = ::mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return failure(last_error());
  auto* memory = static_cast<std::byte*>(at);
  std::size_t skip = (alignment - reinterpret_cast<std::uintptr_t>(memory) % alignment) % alignment;
  if (skip) ::munmap(memory, skip);
  if (alignment > skip) ::munmap(memory + skip + size, alignment - skip);
  ::madvise(memory + skip, size, MADV_NOHUGEPAGE);   // a hint: a kernel without huge pages refuses it
  return memory + skip;
}

void return_memory(std::byte* memory, std::size_t size) noexcept { ::munmap(memory, size); }

std::error_code guard_pages(std::byte* first, std::size_t stride, std::size_t count, std::size_t page) noexcept {
  // ORDER: relaxed, pairs with nothing: a stale `true` costs one refused call in install_one_by_one().
  if (has_guard_markers.load(std::memory_order_relaxed)) {
    std::size_t done = install_vectored(first, stride, count, page);
    std::error_code error = install_one_by_one(first + done * stride, stride, count - done, page);
    if (error != std::errc::invalid_argument) return error;
    // ORDER: relaxed, pairs with the load above: it only saves others the refused call.
    has_guard_markers.store(false, std::memory_order_relaxed);
  }
  return protect(first, stride, count, page);
}

}  // namespace hocket::inline HOCKET_ABI
