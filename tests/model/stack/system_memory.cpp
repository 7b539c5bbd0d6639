#include "stack/system_memory.hpp"

#include <hocket/base/seam/platform/poison.hpp>
#include <hocket/stack/stack_pool.hpp>

#include <algorithm>

namespace hocket_test {
namespace {

using hocket::detail::stack_slab;

constexpr std::size_t most_slabs = 8;
alignas(stack_slab::alignment) constinit std::array<std::byte, most_slabs * stack_slab::alignment> arena{};

std::size_t offset_of(const std::byte* at) noexcept { return static_cast<std::size_t>(at - arena.data()); }

}  // namespace

std::byte* system_memory::first_stack(std::size_t piece) noexcept {
  return arena.data() + piece * stack_slab::alignment + 2 * page;
}

void system_memory::touch(hocket::detail::memory_range range) {
  static_assert(slabs == most_slabs);
  const std::size_t first = offset_of(range.first), end = first + range.size;
  for (std::size_t at = first / page * page; at < end; at += page)
    ++writes[at / stack_slab::alignment][at % stack_slab::alignment / page].write();
}

std::byte* system_memory::reserve(std::size_t size) {
  hocket::model::require(size <= pages * page, "the test's memory is too small for the slab");
  for (std::size_t i = 0; i < slabs; ++i) {
    if (taken[i].exchange(true, std::memory_order_acquire)) continue;
    std::byte* const memory = arena.data() + i * stack_slab::alignment;
    hocket::detail::unpoison_memory(memory,
                                    stack_slab::alignment);  // an execution that was given up may have left it so
    std::fill_n(memory, size, std::byte{});
    return memory;
  }
  return nullptr;
}

void system_memory::give_back(std::byte* memory, std::size_t size) {
  touch({memory, size});
  taken[offset_of(memory) / stack_slab::alignment].store(false, std::memory_order_release);
}

}  // namespace hocket_test

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

using hocket_test::system_memory;

std::size_t page_size() noexcept { return system_memory::page; }
std::size_t guard_size() noexcept { return system_memory::page; }

result<std::byte*> reserve_memory(std::size_t size, std::size_t) noexcept {
  if (std::byte* memory = system_memory::now().reserve(size)) return memory;
  return failure(std::errc::not_enough_memory);
}
void return_memory(std::byte* memory, std::size_t size) noexcept { system_memory::now().give_back(memory, size); }

void forbid_huge_pages(memory_range) noexcept {}
void prefer_huge_pages(memory_range) noexcept {}
std::size_t resident_bytes(memory_range) noexcept { return 0; }

std::error_code discard_pages(const memory_range* ranges, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) system_memory::now().touch(ranges[i]);
  return {};
}

guard_report guard_pages(const memory_range*, std::size_t count) noexcept { return {count, 0, {}}; }
std::error_code unguard_pages(const memory_range*, std::size_t, std::size_t) noexcept { return {}; }
void forget_guards(std::size_t) noexcept {}

}  // namespace detail

// No pool of these tests measures its stacks.
void stack_pool::measure(const stack_ref&) noexcept {}

}}  // namespace hocket
