#include "mutex_owners.hpp"

#include <cstdint>
#include <sys/mman.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

namespace {
using entry = mutex_owners::entry;

constexpr std::size_t initial_capacity = 128;
thread_local constinit mutex_owners this_thread_owners;

// Unmaps the pages. The table itself stays valid until the thread's last destructor has run.
struct at_thread_end {
  ~at_thread_end() { this_thread_owners.release(); }
};

entry* map_entries(std::size_t count) noexcept {
  void* const pages =
      ::mmap(nullptr, count * sizeof(entry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<entry*>(pages);  // zeros: all free
}
}  // namespace

mutex_owners& mutex_owners::of_thread() noexcept { return this_thread_owners; }

void mutex_owners::release() noexcept {
  if (all_) ::munmap(std::exchange(all_, nullptr), std::exchange(capacity_, 0) * sizeof(entry));
  used_ = 0;
}

std::size_t mutex_owners::home_slot(const pthread_mutex_t& mutex) const noexcept {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&mutex));
  return static_cast<std::size_t>(address * 0x9E3779B97F4A7C15U >> 32U) & (capacity_ - 1);
}

entry& mutex_owners::seek(const pthread_mutex_t& mutex) noexcept {
  std::size_t at = home_slot(mutex);
  while (all_[at].mutex && all_[at].mutex != &mutex) at = (at + 1) & (capacity_ - 1);
  return all_[at];
}

entry* mutex_owners::find(const pthread_mutex_t& mutex) noexcept {
  if (used_ == 0) return nullptr;
  entry& found = seek(mutex);
  return found.mutex ? &found : nullptr;
}

bool mutex_owners::add(const pthread_mutex_t& mutex, const context* fiber) noexcept {
  if (used_ * 4 >= capacity_ * 3 && !grow()) return false;
  seek(mutex) = {&mutex, fiber, 1};
  ++used_;
  return true;
}

// Later entries move into the gap, unless their home slot lies after it (Knuth, TAOCP 3, 6.4, algorithm R).
void mutex_owners::remove(entry& position) noexcept {
  auto gap = static_cast<std::size_t>(&position - all_);
  all_[gap] = {};
  --used_;
  for (std::size_t at = (gap + 1) & (capacity_ - 1); all_[at].mutex; at = (at + 1) & (capacity_ - 1)) {
    const std::size_t way = (at - home_slot(*all_[at].mutex)) & (capacity_ - 1);
    if (way < ((at - gap) & (capacity_ - 1))) continue;
    all_[gap] = std::exchange(all_[at], {});
    gap = at;
  }
}

bool mutex_owners::grow() noexcept {
  const std::size_t capacity = capacity_ == 0 ? initial_capacity : capacity_ * 2;
  entry* const more = map_entries(capacity);
  if (!more) return false;
  static thread_local const at_thread_end releasing;
  entry* const old = std::exchange(all_, more);
  const std::size_t old_capacity = std::exchange(capacity_, capacity);
  for (std::size_t at = 0; at < old_capacity; ++at)
    if (old[at].mutex) seek(*old[at].mutex) = old[at];
  if (old) ::munmap(old, old_capacity * sizeof(entry));
  return true;
}

}}}  // namespace hocket::hook
