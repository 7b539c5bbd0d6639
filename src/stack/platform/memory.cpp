// Linux: mmap, and the two kinds of guard.
#include "stack/memory.hpp"

#include <hocket/base/atomic.hpp>

#include <cerrno>
#include <cstdio>
#include <sys/mman.h>

namespace hocket::inline HOCKET_ABI {
namespace {

constexpr int madv_guard_install = 102;  // Linux 6.13; the C library's headers are older

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

std::error_code install_markers(std::byte* first, std::size_t stride, std::size_t count, std::size_t page) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (::madvise(first + i * stride, page, madv_guard_install) != 0) return last_error();
  return {};
}

// Whether the kernel knows guard markers; found out by the first use.
atomic<bool> has_guard_markers{true};

// Guards made by mprotect, in the whole process. Each takes two mappings.
atomic<std::size_t> split_mappings{0};

std::size_t most_split_mappings() noexcept {
  static const std::size_t limit = [] {
    std::size_t maps = 65530;  // the kernel's default
    if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
      if (std::fscanf(file, "%zu", &maps) != 1) maps = 65530;
      std::fclose(file);
    }
    return maps / 4;
  }();
  return limit;
}

std::error_code protect(std::byte* first, std::size_t stride, std::size_t count, std::size_t page) noexcept {
  // ORDER: relaxed, pairs with nothing: a count.
  if (split_mappings.fetch_add(count, std::memory_order_relaxed) + count > most_split_mappings()) {
    forget_guards(count);
    return std::make_error_code(std::errc::not_enough_memory);
  }
  for (std::size_t i = 0; i < count; ++i)
    if (::mprotect(first + i * stride, page, PROT_NONE) != 0) return last_error();
  return {};
}

}  // namespace

result<std::byte*> reserve_memory(std::size_t size, std::size_t alignment) noexcept {
  std::size_t span = size + alignment;
  void* at = ::mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return failure(last_error());
  auto* memory = static_cast<std::byte*>(at);
  std::size_t skip = (alignment - reinterpret_cast<std::uintptr_t>(memory) % alignment) % alignment;
  if (skip) ::munmap(memory, skip);
  if (alignment > skip) ::munmap(memory + skip + size, alignment - skip);
  ::madvise(memory + skip, size, MADV_NOHUGEPAGE);  // a hint: a kernel without huge pages refuses it
  return memory + skip;
}

void return_memory(std::byte* memory, std::size_t size) noexcept { ::munmap(memory, size); }

std::error_code guard_pages(std::byte* first, std::size_t stride, std::size_t count, std::size_t page) noexcept {
  // ORDER: relaxed, pairs with nothing: a stale `true` costs one refused call in install_markers().
  if (has_guard_markers.load(std::memory_order_relaxed)) {
    std::error_code error = install_markers(first, stride, count, page);
    if (!error || error == std::errc::not_enough_memory) return error;
    refuse_guard_markers();  // an old kernel, or a sandbox that forbids them
  }
  return protect(first, stride, count, page);
}

// Guards that were markers before the kernel refused the first one are not in the count: it stops at zero.
void forget_guards(std::size_t count) noexcept {
  // ORDER: relaxed, pairs with nothing: a count.
  std::size_t seen = split_mappings.load(std::memory_order_relaxed);
  // ORDER: relaxed, pairs with nothing: a count.
  while (!split_mappings.compare_exchange_weak(seen, seen - (count < seen ? count : seen), std::memory_order_relaxed)) {
  }
}

void refuse_guard_markers() noexcept {
  // ORDER: relaxed, pairs with nothing: it saves others a refused call.
  has_guard_markers.store(false, std::memory_order_relaxed);
}

}  // namespace hocket::inline HOCKET_ABI
