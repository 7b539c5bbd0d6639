// The fds of a child that will be started: its standard streams and further fds.
#pragma once
#include <hocket/io/process_options.hpp>
#include <hocket/io/unique_fd.hpp>

#include "io/platform/start_child.hpp"

#include <array>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class child_streams {
 public:
  // Returns an error number, or 0. Throws std::bad_alloc.
  int prepare(const process_options& options);

  // This process's end of the pipe to the child's standard stream `number`; empty, if there is no pipe.
  unique_fd& parent_end(std::size_t number) noexcept { return streams_[number].parent_end; }
  std::vector<fd_move>& moves() noexcept { return moves_; }

 private:
  struct stream {
    unique_fd child_end;  // closed in this process after the start
    unique_fd parent_end;
    int source = -1;  // the fd that the child gets; -1: the child inherits its stream
  };

  int prepare(stream& target, const process_stream& option, int number) noexcept;
  static int make_pipe(stream& target, bool child_reads) noexcept;
  static int open_null(stream& target) noexcept;
  int add_fds(std::span<const process_fd> fds);

  std::array<stream, 3> streams_;
  std::vector<fd_move> moves_;
};

}}}  // namespace hocket::detail
