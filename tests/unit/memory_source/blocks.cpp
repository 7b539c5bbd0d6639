#include "unit/memory_source/blocks.hpp"

#include <hocket/base/memory_source.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace hocket_test::blocks {
namespace {

struct numbers {
  std::size_t bytes, alignment;
};

std::mutex lock;
std::map<void*, numbers>& all() {
  static auto* const made = new std::map<void*, numbers>;  // threads may end after main()
  return *made;
}

thread_local std::size_t passes = 0, fails = 0;  // so many allocations succeed, and then so many fail
thread_local bool failed = false;

bool admit() noexcept {
  if (fails == 0) return true;
  if (passes != 0) return --passes, true;
  --fails;
  failed = true;
  return false;
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (!admit()) return nullptr;
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!memory) return nullptr;
  std::memset(memory, 0, bytes);
  const std::lock_guard guard(lock);
  all()[memory] = {bytes, alignment};
  return memory;
}

void release(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  {
    const std::lock_guard guard(lock);
    const auto found = all().find(memory);
    if (found == all().end() || found->second.bytes != bytes || found->second.alignment != alignment) std::abort();
    all().erase(found);
  }
  std::free(memory);
}

// Before all else of hocket.
[[maybe_unused]] const bool is_set = (hocket::set_memory_source({&allocate, &release}), true);

}  // namespace

std::size_t count() {
  const std::lock_guard guard(lock);
  return all().size();
}

std::size_t larger_than(std::size_t bytes) {
  const std::lock_guard guard(lock);
  return static_cast<std::size_t>(
      std::count_if(all().begin(), all().end(), [&](const auto& one) { return one.second.bytes > bytes; }));
}

std::size_t holding(const hidden& what) {
  const std::lock_guard guard(lock);
  const auto word = reinterpret_cast<std::uintptr_t>(what.get());
  std::size_t found = 0;
  for (const auto& [memory, size] : all()) {
    const auto* const first = static_cast<const std::uintptr_t*>(memory);
    found += std::count(first, first + size.bytes / sizeof word, word) != 0;
  }
  return found;
}

failing::failing(std::size_t nth, std::size_t how_many) noexcept {
  passes = nth - 1;
  fails = how_many;
  failed = false;
}
failing::~failing() { fails = 0; }
bool failing::has_failed() const noexcept { return failed; }

}  // namespace hocket_test::blocks
