#include "io/child_streams.hpp"

#include <hocket/base/seam/own_fds.hpp>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr int fd_of_in = 0, fd_of_out = 1, fd_of_err = 2;

bool is_open(int fd) noexcept { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

int child_streams::prepare(const process_options& options) {
  const std::array<const process_stream*, 3> stream_options{&options.in, &options.out, &options.err};
  for (int number = fd_of_in; number <= fd_of_err; ++number) {
    stream& target = streams_[static_cast<std::size_t>(number)];
    if (const int error = prepare(target, *stream_options[static_cast<std::size_t>(number)], number)) return error;
    if (target.source >= 0) moves_.push_back({target.source, number});
  }
  return add_fds(options.fds);
}

int child_streams::prepare(stream& target, const process_stream& option, int number) noexcept {
  using redirection = process_stream::redirection;
  switch (option.redirect) {
    case redirection::inherit: return 0;
    case redirection::pipe: return make_pipe(target, number == fd_of_in);
    case redirection::null: return open_null(target);
    case redirection::to_out:
      if (number != fd_of_err) return EINVAL;
      target.source = streams_[fd_of_out].source < 0 ? fd_of_out : streams_[fd_of_out].source;
      return 0;
    case redirection::fd: break;
  }
  target.source = option.fd;
  return is_open(option.fd) ? 0 : EBADF;
}

// The end of this process is non-blocking. The end of the child is blocking, as programs expect.
int child_streams::make_pipe(stream& target, bool child_reads) noexcept {
  std::array<int, 2> ends{};
  if (own_fds(::pipe2(ends.data(), O_CLOEXEC), ends) != 0) return errno;
  target.child_end = unique_fd(child_reads ? ends[0] : ends[1]);
  target.parent_end = unique_fd(child_reads ? ends[1] : ends[0]);
  target.source = target.child_end.native_handle();
  const int flags = O_NONBLOCK | (child_reads ? O_WRONLY : O_RDONLY);
  return ::fcntl(target.parent_end.native_handle(), F_SETFL, flags) == 0 ? 0 : errno;
}

int child_streams::open_null(stream& target) noexcept {
  target.child_end = unique_fd(own_fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  target.source = target.child_end.native_handle();
  return target.source < 0 ? errno : 0;
}

int child_streams::add_fds(std::span<const process_fd> fds) {
  for (const process_fd& entry : fds) {
    const auto has_number = [&](const fd_move& move) { return move.target == entry.number; };
    if (entry.number <= fd_of_err || std::any_of(moves_.begin(), moves_.end(), has_number)) return EINVAL;
    if (!is_open(entry.fd)) return EBADF;
    moves_.push_back({entry.fd, entry.number});
  }
  return 0;
}

}}}  // namespace hocket::detail
