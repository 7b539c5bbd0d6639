// Sources of stack memory for tests: memory that the test owns, and a source that forbids access to uncommitted memory.
#pragma once
#include <hocket/stack/stack_source.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <sys/mman.h>
#include <vector>

namespace hocket_test {

// Pieces of memory of another owner, first fit. Any thread. The test fails if it is used otherwise than the
// contract of stack_source says.
class stack_arena final : public hocket::stack_source {
 private:
  auto locked(auto look) const {
    std::scoped_lock lock(mutex_);
    return look();
  }

 public:
  static constexpr std::size_t granule = 64 * 1024;

  explicit stack_arena(std::span<std::byte> memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::size_t skip = (granule - address % granule) % granule;
    if (memory.size() > skip) memory_ = memory.subspan(skip);
    taken_.resize(memory_.size() / granule);
  }

  void* map(std::size_t size, std::size_t alignment) noexcept override {
    std::scoped_lock lock(mutex_);
    ++calls_;
    if (granule % alignment != 0) ++wrong_;
    if (refuses_next()) return nullptr;
    const std::size_t wanted = granules(size);
    for (std::size_t from = 0, free = 0; from + free < taken_.size();) {
      if (taken_[from + free]) from += free + 1, free = 0;
      else if (++free == wanted) return take(from, size);
    }
    return nullptr;
  }
  bool commit(void* from, std::size_t size) noexcept override {
    std::scoped_lock lock(mutex_);
    ++calls_;
    expect_inside(from, size);
    return !refuses_next();
  }
  bool decommit(void* from, std::size_t size) noexcept override {
    std::scoped_lock lock(mutex_);
    ++calls_;
    expect_inside(from, size);
    decommitted_ += size;
    return gives_back_;
  }
  void release(void* memory, std::size_t size) noexcept override {
    std::scoped_lock lock(mutex_);
    ++calls_;
    auto* const first = static_cast<std::byte*>(memory);
    const auto found = slabs_.find(first);
    if (found == slabs_.end() || found->second != size) return static_cast<void>(++wrong_);
    slabs_.erase(found);
    const auto from = static_cast<std::size_t>(first - memory_.data()) / granule;
    for (std::size_t i = 0; i < granules(size); ++i) taken_[from + i] = false;
  }

  // From now on the call of map() or commit() after so many others fails, once.
  void refuse_after(std::size_t calls) {
    std::scoped_lock lock(mutex_);
    left_ = calls + 1;
  }
  void give_back(bool gives_back) { gives_back_ = gives_back; }

  bool has_refused() const {
    return locked([&] { return refused_ != 0; });
  }
  std::size_t calls() const {
    return locked([&] { return calls_; });
  }
  std::size_t slabs() const {
    return locked([&] { return slabs_.size(); });
  }
  std::size_t decommitted() const {
    return locked([&] { return decommitted_; });
  }
  std::size_t wrong() const {
    return locked([&] { return wrong_; });
  }
  std::size_t in_use() const {
    return locked([&] {
      std::size_t bytes = 0;
      for (const auto& [first, size] : slabs_) bytes += size;
      return bytes;
    });
  }
  bool holds(const std::byte* at) const { return at >= memory_.data() && at < memory_.data() + memory_.size(); }

 private:
  static std::size_t granules(std::size_t size) { return (size + granule - 1) / granule; }
  bool refuses_next() {
    if (left_ == 0 || --left_ != 0) return false;
    ++refused_;
    return true;
  }
  void* take(std::size_t from, std::size_t size) {
    for (std::size_t i = 0; i < granules(size); ++i) taken_[from + i] = true;
    std::byte* const first = memory_.data() + from * granule;
    slabs_.emplace(first, size);
    return first;
  }
  void expect_inside(void* from, std::size_t size) {
    auto* const first = static_cast<std::byte*>(from);
    auto slab = slabs_.upper_bound(first);
    if (slab == slabs_.begin()) return static_cast<void>(++wrong_);
    --slab;
    if (first + size > slab->first + slab->second || reinterpret_cast<std::uintptr_t>(from) % 4096 != 0) ++wrong_;
  }

  mutable std::mutex mutex_;
  std::span<std::byte> memory_;
  std::vector<bool> taken_;
  std::map<std::byte*, std::size_t> slabs_;
  std::size_t calls_ = 0;
  std::size_t decommitted_ = 0;
  std::size_t left_ = 0;
  std::size_t refused_ = 0;
  std::size_t wrong_ = 0;
  bool gives_back_ = false;
};

// Of the system's memory, which faults unless it is committed.
class strict_source final : public hocket::stack_source {
 public:
  void* map(std::size_t size, std::size_t alignment) noexcept override {
    void* const at = ::mmap(nullptr, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    const std::size_t skip = (alignment - reinterpret_cast<std::uintptr_t>(at) % alignment) % alignment;
    void* const first = static_cast<std::byte*>(at) + skip;
    mappings_.emplace(first, std::pair(at, size + alignment));
    return first;
  }
  bool commit(void* from, std::size_t size) noexcept override {
    if (left_ != 0 && --left_ == 0) return has_refused_ = true, false;
    return ::mprotect(from, size, PROT_READ | PROT_WRITE) == 0;
  }
  bool decommit(void* from, std::size_t size) noexcept override {
    return ::madvise(from, size, MADV_DONTNEED) == 0 && ::mprotect(from, size, PROT_NONE) == 0;
  }
  void release(void* memory, std::size_t) noexcept override {
    const auto found = mappings_.find(memory);
    ::munmap(found->second.first, found->second.second);
    mappings_.erase(found);
  }
  // From now on the call of commit() after so many others fails, once.
  void refuse_after(std::size_t calls) { left_ = calls + 1; }
  bool has_refused() const { return has_refused_; }
  std::size_t slabs() const { return mappings_.size(); }

 private:
  std::size_t left_ = 0;
  bool has_refused_ = false;
  std::map<void*, std::pair<void*, std::size_t>> mappings_;
};

}  // namespace hocket_test
