// The operating system's side of stacks: what a slab asks of it. Sizes and addresses are multiples of the page size.
#pragma once
#include <hocket/base/result.hpp>
#include <cstddef>

namespace hocket::inline HOCKET_ABI {

// Address space, readable and writable, zero when first touched, no memory yet, no huge pages. `alignment` is a power
// of two.
result<std::byte*> reserve_memory(std::size_t size, std::size_t alignment) noexcept;
void return_memory(std::byte* memory, std::size_t size) noexcept;

// Makes the first page of `count` strides fault when touched. All or an error; after an error some may be guarded.
// Where the kernel has no guard markers each guard splits a mapping in two: then at most half of the process's mappings
// may go to guards (ENOMEM beyond), so that others still get theirs.
std::error_code guard_pages(std::byte* first, std::size_t stride, std::size_t count, std::size_t page) noexcept;

// The memory of `count` guarded pages is about to be returned.
void forget_guards(std::size_t count) noexcept;

// For tests: goes on as on a kernel without guard markers.
void refuse_guard_markers() noexcept;

}  // namespace hocket::inline HOCKET_ABI
