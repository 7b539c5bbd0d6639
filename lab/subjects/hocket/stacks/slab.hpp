#pragma once
// Memory for n stacks: the subject's own address space, and stacks of hocket's pool.
#include <hocket/stack/stack_pool.hpp>

#include "effects.hpp"

namespace lab {

// Stack i is `stride` bytes from stack i - 1. No huge pages, no guards.
class address_space {
 public:
  address_space(std::size_t n, std::size_t stride) : bytes_{n * stride}, stride_{stride} {
    void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) fail("no address space for the stacks");
    low_ = static_cast<std::byte*>(at);
    madvise(low_, bytes_, MADV_NOHUGEPAGE);  // refused where there are none
  }
  address_space(const address_space&) = delete;
  address_space& operator=(const address_space&) = delete;
  ~address_space() { munmap(low_, bytes_); }

  std::byte* low(std::size_t i) const { return low_ + i * stride_; }
  std::byte* top(std::size_t i) const { return low(i) + stride_; }

 private:
  std::size_t bytes_;
  std::size_t stride_;
  std::byte* low_;
};

// Stacks with coloured tops, all acquired at once.
class pooled_stacks {
 public:
  pooled_stacks(std::size_t n, std::size_t size, hocket::stack_layout layout = hocket::stack_layout::guarded)
      : n_{n}, pool_{{.stack_size = size, .layout = layout}}, stacks_{n} {
    for (std::size_t i = 0; i < n; ++i) {
      auto stack = pool_.acquire();
      if (!stack) fail("the pool has no stack");
      stacks_[i] = *stack;
    }
  }
  pooled_stacks(const pooled_stacks&) = delete;
  pooled_stacks& operator=(const pooled_stacks&) = delete;
  ~pooled_stacks() {
    for (std::size_t i = 0; i < n_; ++i) pool_.release(stacks_[i]);
  }

  std::byte* top(std::size_t i) { return stacks_[i].top; }

 private:
  std::size_t n_;
  hocket::stack_pool pool_;
  slots<hocket::stack_ref> stacks_;
};

}  // namespace lab
