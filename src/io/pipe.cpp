#include <hocket/base/seam/own_fds.hpp>
#include <hocket/io/pipe.hpp>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

result<pipe_ends> make_pipe() noexcept {
  std::array<int, 2> ends{};
  if (own_fds(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), ends) != 0) return failure_of_transfer(errno);
  result<descriptor> reader = descriptor_access::take_over(ends[0], descriptor_kind::other);
  result<descriptor> writer = descriptor_access::take_over(ends[1], descriptor_kind::other);
  if (!reader) ::close(ends[0]);
  if (!writer) ::close(ends[1]);
  if (!reader || !writer) return failure_of_transfer(ENOMEM);
  return pipe_ends{stream(std::move(*reader)), stream(std::move(*writer))};
}

}}  // namespace hocket
