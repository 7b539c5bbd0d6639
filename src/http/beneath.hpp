// Opens files beneath a folder: no name leads out of it, neither by `..` nor by a symlink, also while others rename
// folders.
//
// The kernel resolves the name (openat2(2) with RESOLVE_BENEATH, Linux 5.6). A symlink that stays beneath the folder is
// followed. A symlink that leaves it, and each absolute one, is EXDEV.
//
// # The fallback
//
// An older kernel, or a filter of system calls (seccomp), refuses openat2() with ENOSYS or EPERM. Then the name is
// resolved here, component by component:
//   - each folder on the way is opened relative to the folder above it, without following symlinks, and stays open;
//   - `..` returns to the open folder above, and at the root fails;
//   - a symlink is read, and its text is put in front of the rest of the name.
// Hazard. If a folder on the way is moved out of the root while the walk is in it, then the walk continues in the moved
// folder, as for each program that has it open. It does not go up from there, because `..` is never passed to the
// system.
//
// # Blocking
//
// open_mode::cached opens a name only if its components are in the system's cache (RESOLVE_CACHED, Linux 5.12), and
// otherwise fails with EAGAIN, also where only the fallback works. open_mode::may_block is for threads of a pool.
#pragma once
#include <hocket/io/unique_fd.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

enum class open_mode : std::uint8_t { cached, may_block };

// A file or folder that is open for reading.
struct opened_file {
  enum class kind : std::uint8_t { regular, folder, other };

  unique_fd fd;
  kind type = kind::other;
  std::uint64_t size = 0;
  // Times in seconds since 1970.
  std::int64_t mtime = 0;        // of the last change of the content, or a time that a program has set
  std::int64_t ctime = 0;        // of the last change of the inode
  std::int64_t modified_ns = 0;  // mtime in nanoseconds, modulo 2^64: for entity tags

  // The time of the last change of the content, at most `now`. If mtime is in the future, a program has set it, and
  // ctime is the time of this call or of a later change. Not `now`: a client that sends it back a second later would
  // get the file again.
  std::int64_t modified(std::int64_t now) const noexcept { return mtime <= now ? mtime : ctime <= now ? ctime : now; }
};

// Opens `path`, a terminated relative name, beneath the folder `root`. A FIFO or a device without a peer does not
// block. Returns 0, or the error number. Throws std::bad_alloc in the fallback.
int open_beneath(int root, const char* path, open_mode mode, opened_file& opened);

// Fills all but the fd. Returns 0, or the error number.
int read_state(opened_file& opened) noexcept;

}}}  // namespace hocket::http::detail
