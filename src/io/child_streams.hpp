// The fds of a child to be: its standard streams, and those beside them.
#pragma once
#include <hocket/io/process_options.hpp>
#include <hocket/io/unique_fd.hpp>

#include "io/platform/start_child.hpp"

#include <array>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class child_streams {
 public:
  // An error number, or 0. Throws std::bad_alloc.
  int prepare(const process_options& options);

  // This process's end of a pipe to the child's standard stream `number`; empty, if there is none.
  unique_fd& end_here(std::size_t number) noexcept { return streams_[number].end_here; }
  std::vector<fd_move>& moves() noexcept { return moves_; }

 private:
  struct stream {
    unique_fd end_of_child;  // closed here once the child has it
    unique_fd end_here;
    int source = -1;  // what the child gets; -1: what it inherits
  };

  int prepare(stream& at, const process_stream& option, int number) noexcept;
  static int make_pipe(stream& at, bool child_reads) noexcept;
  static int open_null(stream& at) noexcept;
  int add_fds(std::span<const process_fd> fds);

  std::array<stream, 3> streams_;
  std::vector<fd_move> moves_;
};

}}}  // namespace hocket::detail
