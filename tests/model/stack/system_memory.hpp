// The operating system's side of stacks (src/stack/memory.hpp) for model tests: a few pages for each slab.
//
// What the system does with a page conflicts with each use of it. use() stands for an owner that runs on a stack: it
// writes a model::var for each page, and so do discard_pages() and return_memory(). A page that is dropped beside its
// use is a data race then. Guards are there as soon as they are asked for.
#pragma once
#include <hocket/model/model.hpp>
#include <hocket/stack/stack_options.hpp>

#include "stack/slab.hpp"

#include <array>
#include <cstddef>

namespace hocket_test {

// Made by each execution before its depots.
class system_memory {
 public:
  static constexpr std::size_t page = 4096;

  system_memory() noexcept { present = this; }
  static system_memory& now() noexcept { return *present; }

  // What the first stack will be, above its guard, of a slab that is the first piece of memory, or a later one.
  static std::byte* first_stack(std::size_t piece = 0) noexcept;

  // By the owner of the stack.
  void use(const hocket::stack_ref& stack) { touch({stack.low, stack.size()}); }

  // By the system.
  void touch(hocket::detail::memory_range range);
  std::byte* reserve(std::size_t size);
  void give_back(std::byte* memory, std::size_t size);

 private:
  static constexpr std::size_t slabs = 8;  // and chunks of the table of slabs
  static constexpr std::size_t pages = 8;  // of a slab: one of cells, then two stacks of three pages

  static inline system_memory* present = nullptr;
  // The system orders a mapping behind the end of the one that was there before.
  std::array<hocket::model::atomic<bool>, slabs> taken{};
  std::array<std::array<hocket::model::var<int>, pages>, slabs> writes{};
};

}  // namespace hocket_test
