// Which fiber of this thread owns which recursive or error-checking mutex. Libc knows only threads: it would let a
// second fiber of the thread enter.
//
// A table per thread, with open addressing, in pages of its own: an allocator may lock a mutex itself.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

#include <cstddef>
#include <pthread.h>

namespace hocket { inline namespace HOCKET_ABI {
class context;
}}  // namespace hocket

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

class mutex_owners {
 public:
  struct entry {
    const pthread_mutex_t* mutex = nullptr;  // null: free
    const context* fiber = nullptr;
    std::size_t depth = 0;  // how often the fiber has locked the mutex
  };

  constexpr mutex_owners() noexcept = default;
  mutex_owners(const mutex_owners&) = delete;
  mutex_owners& operator=(const mutex_owners&) = delete;

  static mutex_owners& of_thread() noexcept;
  // Called at the end of the thread.
  void release() noexcept;

  entry* find(const pthread_mutex_t& mutex) noexcept;
  // Adds an owner with depth 1. False: no memory.
  bool add(const pthread_mutex_t& mutex, const context* fiber) noexcept;
  void remove(entry& position) noexcept;

 private:
  std::size_t home_slot(const pthread_mutex_t& mutex) const noexcept;
  // The mutex's entry, or the free entry for it. There always is one: the table is never full.
  entry& seek(const pthread_mutex_t& mutex) noexcept;
  bool grow() noexcept;

  entry* all_ = nullptr;
  std::size_t capacity_ = 0;  // a power of two
  std::size_t used_ = 0;
};

}}}  // namespace hocket::hook
