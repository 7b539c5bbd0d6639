#include <hocket/base/seam/platform/raw_calls.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/io/detail/fd_poll.hpp>
#include <hocket/io/seam/transfer_operation.hpp>

#include <cerrno>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool poll_operation::test() noexcept {
  long found = 0;
  do found = raw_calls::poll(fds, count, 0);
  while (found < 0 && errno == EINTR);
  if (found < 0) error = static_cast<std::size_t>(errno);
  else ready = static_cast<std::size_t>(found);
  return found != 0;
}

void poll_operation::fail(primitive::waiter& entry, int number) noexcept {
  error = static_cast<std::size_t>(number);
  entry.claim_popped().post();
}

result<std::size_t> poll_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(static_cast<int>(error));
  return ready;
}

void poll_operation::resumed() noexcept {
  if (listed) release_frame(std::exchange(listed, nullptr), (count + 1) * sizeof(polled_fd));
}

result<short> readiness_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(static_cast<int>(error));
  return own.revents;
}

}}}  // namespace hocket::detail
