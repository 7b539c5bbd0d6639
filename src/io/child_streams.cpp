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
  const std::array<const process_stream*, 3> options_of{&options.in, &options.out, &options.err};
  for (int number = fd_of_in; number <= fd_of_err; ++number) {
    stream& at = streams_[static_cast<std::size_t>(number)];
    if (const int error = prepare(at, *options_of[static_cast<std::size_t>(number)], number)) return error;
    if (at.source >= 0) moves_.push_back({at.source, number});
  }
  return add_fds(options.fds);
}

int child_streams::prepare(stream& at, const process_stream& option, int number) noexcept {
  using redirection = process_stream::redirection;
  switch (option.redirect) {
    case redirection::inherit: return 0;
    case redirection::pipe: return make_pipe(at, number == fd_of_in);
    case redirection::null: return open_null(at);
    case redirection::to_out:
      if (number != fd_of_err) return EINVAL;
      at.source = streams_[fd_of_out].source < 0 ? fd_of_out : streams_[fd_of_out].source;
      return 0;
    case redirection::fd: break;
  }
  at.source = option.fd;
  return is_open(option.fd) ? 0 : EBADF;
}

// The end of this process does not block. That of the child does: programs expect it.
int child_streams::make_pipe(stream& at, bool child_reads) noexcept {
  std::array<int, 2> ends{};
  if (own_fds(::pipe2(ends.data(), O_CLOEXEC), ends) != 0) return errno;
  at.end_of_child = unique_fd(child_reads ? ends[0] : ends[1]);
  at.end_here = unique_fd(child_reads ? ends[1] : ends[0]);
  at.source = at.end_of_child.native_handle();
  const int flags = O_NONBLOCK | (child_reads ? O_WRONLY : O_RDONLY);
  return ::fcntl(at.end_here.native_handle(), F_SETFL, flags) == 0 ? 0 : errno;
}

int child_streams::open_null(stream& at) noexcept {
  at.end_of_child = unique_fd(own_fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  at.source = at.end_of_child.native_handle();
  return at.source < 0 ? errno : 0;
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
