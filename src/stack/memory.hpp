// The operating system's side of stacks: what a slab asks of it. Sizes and addresses are multiples of the page size.
#pragma once
#include <hocket/base/result.hpp>
#include <cstddef>

namespace hocket::inline HOCKET_ABI {

// Address space, readable and writable, zero when first touched, no memory yet, no huge pages. `alignment` is a power
// of two.
result<std::byte*> reserve_memory(std::size_t size, std::size_t alignment) noexcept;
void return_memory(std::byte* memory, std::size_t size) noexcept;

// Makes the first page of `count` strides fault when touched. All or an error: then some may be guarded already.
std::error_code guard_pages(std::byte* first, std::size_t stride, std::size_t count, std::size_t page) noexcept;

}  // namespace hocket::inline HOCKET_ABI
