#include <hocket/base/seam/platform/raw_calls.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/io/detail/fd_poll.hpp>
#include <hocket/io/seam/transfer_operation.hpp>

#include <cerrno>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool poll_operation::poll() noexcept {
  long ready_count = 0;
  do ready_count = raw_calls::poll(fds, count, 0);
  while (ready_count < 0 && errno == EINTR);
  if (ready_count < 0) error = static_cast<std::size_t>(errno);
  else ready = static_cast<std::size_t>(ready_count);
  return ready_count != 0;
}

void poll_operation::fail(primitive::waiter& entry, int error_number) noexcept {
  error = static_cast<std::size_t>(error_number);
  entry.claim_popped().post();
}

result<std::size_t> poll_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(static_cast<int>(error));
  return ready;
}

void poll_operation::resumed() noexcept {
  if (nodes) release_frame(std::exchange(nodes, nullptr), (count + 1) * sizeof(polled_fd));
}

result<short> readiness_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(static_cast<int>(error));
  return own.revents;
}

}}}  // namespace hocket::detail
