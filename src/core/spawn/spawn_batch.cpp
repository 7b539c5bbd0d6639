#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/spawn_batch.hpp>

#include <algorithm>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

void spawn_batch::collect(scheduled& child, std::coroutine_handle<> start) noexcept {
  collected_[size_] = &child.enter_batch(start, __builtin_return_address(0));
  if (++size_ == capacity) flush();
}

void spawn_batch::flush() noexcept {
  if (size_ == 0) return;
  const runnables all{collected_, std::exchange(size_, 0)};
  const std::error_code error = target_.enroll(all.size());
  for (std::size_t i = 0; debug_checks && i < all.size(); ++i) scheduled::leave_batch(all[i]);
  if (error) return refuse(all, error);
  post_all(target_.home(), all);
}

// The destructor of a callable may spawn, in this batch, too.
void spawn_batch::refuse(const runnables& all, std::error_code error) noexcept {
  runnable* refused[capacity];
  std::copy_n(all.first, all.size(), refused);
  for (std::size_t i = 0; i < all.size(); ++i) scheduled::refuse(*refused[i], error);
}

}}  // namespace hocket
