// Counts and fails allocations of the calling thread through the global operator new.
//
// A test that includes this links hocket_test_alloc, which replaces the operators for the whole executable. Only what
// the calling thread does between construction and destruction is counted, so the figures are exact. Watches of one
// thread do not nest.
#pragma once
#include <cstddef>

namespace hocket_test {

class allocation_watch {
 public:
  // Counts only.
  allocation_watch() noexcept;
  // Also fails the nth allocation from here (1: the next one), once.
  explicit allocation_watch(std::size_t failing) noexcept;
  ~allocation_watch();
  allocation_watch(const allocation_watch&) = delete;
  allocation_watch& operator=(const allocation_watch&) = delete;

  // Calls of operator new, with the failed one; calls of operator delete with an address; bytes asked for.
  std::size_t allocations() const noexcept { return allocations_; }
  std::size_t releases() const noexcept { return releases_; }
  std::size_t bytes() const noexcept { return bytes_; }
  bool has_failed() const noexcept { return has_failed_; }

  // Called by the replaced operators. `admit` tells whether this allocation may succeed.
  bool admit(std::size_t bytes) noexcept;
  void release() noexcept { ++releases_; }

 private:
  std::size_t failing_;
  std::size_t allocations_ = 0;
  std::size_t releases_ = 0;
  std::size_t bytes_ = 0;
  bool has_failed_ = false;
};

}  // namespace hocket_test
