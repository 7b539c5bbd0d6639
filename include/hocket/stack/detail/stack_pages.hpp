// The pages behind parked stacks: given back to the system while nobody runs there.
//
// What was on them is lost, so it is saved first (stack_image.hpp). Where the kernel has guard markers, the pages that
// held live frames fault until they are allowed again: a stray access to a variable that is not there is found.
// Elsewhere it reads zeros, and what it writes is lost.
//
// Dropping first and guarding then, each a batch in one system call, costs a third of what markers cost that have to
// drop the page themselves, and pages below the live ones need no marker: nothing on them can be referred to
// (docs/decisions/006).
#pragma once
#include <hocket/stack/detail/memory_range.hpp>
#include <hocket/stack/stack_pool.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The pages that a stack has for itself: all of it but its guard page.
memory_range pages_of(const stack_ref& stack) noexcept;

// The pages that hold [from, top).
memory_range pages_of(const std::byte* from, const std::byte* top) noexcept;

// Gives the pages of `count` stacks back, a batch of them in one system call. False: not all could be (locked memory).
[[nodiscard]] bool drop_pages(const memory_range* stacks, std::size_t count) noexcept;

// Then, what was `live` of each is guarded, likewise. True: it faults from now on.
[[nodiscard]] bool forbid_pages(const memory_range* live, std::size_t count) noexcept;

// Makes live pages that fault usable again.
void allow_pages(const memory_range& live) noexcept;

}}}  // namespace hocket::detail
