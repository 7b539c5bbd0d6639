// Regular files. Their calls may block on the disk, so each operation runs on a thread of a blocking_pool, while the
// coroutine waits.
//
//   auto f = co_await or_return(file::open("data.bin", {.write = true, .create = true}));
//   co_await or_return(f.write_at("forty-two", 4096));
//   co_await or_return(f.sync());
//   auto text = co_await or_return(read_file("/etc/hosts"));                  // in a fiber: await(read_file(...))
//
// Operations are calls of blocking() (runtime/blocking.hpp), on the pool of the process, or on the pool that the file
// was opened with. So:
//   - A cancel, a kill or a deadline ends an operation in the pool's queue like any other wait. Then the operation has
//     done nothing.
//   - An operation that has begun is not interrupted: the coroutine waits for its end and gets its result, even after a
//     cancel, a kill or a deadline. So no operation uses the buffer after the await has returned.
//   - A full queue refuses an operation: resource_unavailable_try_again.
//
// Positions are in bytes from the beginning of the file. There is no current position, so operations of one file may
// run at the same time. If two of them write to the same place, the system decides the result.
//
// Pipes, terminals and sockets have no positions: they are streams (stream.hpp), and read_at() and write_at() fail with
// invalid_seek. Operations on a whole file accept pipes and terminals: read_file() and read_all() read a named pipe or
// "/dev/stdin" to the end, write_file() and append() write in order. Such a call occupies a thread
// of the pool until the other side has opened the pipe, and then until it has closed it.
//
// Errors: the errors of the system calls, and of blocking(); bad_file_descriptor, if the file is closed.
//
// Thread safety. Any number of coroutines and threads may use one object at a time, except for its construction, its
// destruction, and moves from or to it. close() may run at any time.
//
// Cost. Each operation changes threads twice, which takes some 10 to 50 us. Transfer much data at a time. Operations
// are templates of the pool's type, so a program compiles only the operations that it uses.
#pragma once
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/runtime/blocking.hpp>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI {

// Options for file::open(). Combinations that make no sense fail with invalid_argument.
struct file_options {
  bool read = true;
  bool write = false;
  bool append = false;          // append() and write_at() write behind the end that the file has by then
  bool create = false;          // creates the file, if there is none
  bool exclusive = false;       // with create: fails with file_exists, if there is a file
  bool truncate = false;        // with write or append: removes the content of the file
  unsigned permissions = 0666;  // of a created file, less the umask of the process
};
static_assert(detail::owns_nothing<file_options>);

class file;

namespace detail {

// The file of an operation, also if its object is closed, moved or destroyed before the operation begins.
struct file_reference {
  open_descriptor* record;
  std::uint32_t generation;
};

// These functions run on threads of the pool.
result<file> open_file(const std::string& path, const file_options& options, blocking_pool* pool);
result<std::size_t> read_file_at(file_reference reference, mutable_buffer buffer, std::uint64_t offset) noexcept;
result<std::size_t> write_file_at(file_reference reference, const_buffer data, std::uint64_t offset) noexcept;
result<std::size_t> append_to_file(file_reference reference, const_buffer data) noexcept;
result<std::string> read_whole_file(file_reference reference, std::size_t limit);
result<std::uint64_t> size_of_file(file_reference reference) noexcept;
result<void> resize_file(file_reference reference, std::uint64_t size) noexcept;
result<void> sync_file(file_reference reference, bool data_only) noexcept;
result<std::string> read_named_file(const std::string& path, std::size_t limit);
result<std::size_t> write_named_file(const std::string& path, const_buffer data, unsigned permissions);

}  // namespace detail

// The owner of an open file.
class file {
 public:
  // An empty file: its operations fail with bad_file_descriptor.
  file() noexcept = default;

  // Opens a file. Started programs do not inherit it. The path is copied. Errors: the errors of open(2), for
  // example no_such_file_or_directory, permission_denied, file_exists; invalid_argument.
  template <class Pool = blocking_pool>
  static auto open(std::string_view path, const file_options& options = {}) {
    return blocking(Pool::process_pool(), &detail::open_file, std::string(path), options, static_cast<Pool*>(nullptr));
  }
  // All operations of the file run on this pool, which outlives the file.
  template <std::same_as<blocking_pool> Pool>
  static auto open(Pool& pool, std::string_view path, const file_options& options = {}) {
    return blocking(pool, &detail::open_file, std::string(path), options, &pool);
  }
  // Takes ownership of an fd. Errors: bad_file_descriptor, not_enough_memory; then the caller keeps the fd.
  static result<file> adopt(int fd, blocking_pool* pool = nullptr) noexcept;

  explicit operator bool() const noexcept { return static_cast<bool>(descriptor_); }
  // The fd; -1 if there is none, or after close().
  int native_handle() const noexcept { return descriptor_.native_handle(); }
  // Further operations fail with bad_file_descriptor, also operations that have not begun. The fd is closed when no
  // operation uses it any more. Errors of close(2) about earlier writes are not reported: use sync().
  void close() noexcept { descriptor_.close(); }

  // Reads until the buffer is full, or the file ends. Returns how many bytes. 0: `offset` is at or behind the end.
  template <class Pool = blocking_pool>
  auto read_at(mutable_buffer buffer, std::uint64_t offset) const {
    return blocking(pool<Pool>(), &detail::read_file_at, reference(), buffer, offset);
  }
  // Writes the whole buffer. Returns how many bytes that is. If the call fails in the middle, a part may be written.
  template <class Pool = blocking_pool>
  auto write_at(const_buffer data, std::uint64_t offset) {
    return blocking(pool<Pool>(), &detail::write_file_at, reference(), data, offset);
  }
  // Writes the whole buffer behind the end of a file that was opened to append; else fails with invalid_argument.
  template <class Pool = blocking_pool>
  auto append(const_buffer data) {
    return blocking(pool<Pool>(), &detail::append_to_file, reference(), data);
  }
  // Reads the whole file. Errors: file_too_large, if the file is longer than `limit` bytes.
  template <class Pool = blocking_pool>
  auto read_all(std::size_t limit = default_read_limit) const {
    return blocking(pool<Pool>(), &detail::read_whole_file, reference(), limit);
  }

  // Returns the size in bytes.
  template <class Pool = blocking_pool>
  auto size() const {
    return blocking(pool<Pool>(), &detail::size_of_file, reference());
  }
  // Truncates the file, or adds zeros.
  template <class Pool = blocking_pool>
  auto resize(std::uint64_t size) {
    return blocking(pool<Pool>(), &detail::resize_file, reference(), size);
  }
  // Waits until the disk has all earlier writes and the metadata of the file (fsync(2)).
  template <class Pool = blocking_pool>
  auto sync() {
    return blocking(pool<Pool>(), &detail::sync_file, reference(), false);
  }
  // Like sync(), without the metadata that reading does not need, for example the times (fdatasync(2)).
  template <class Pool = blocking_pool>
  auto sync_data() {
    return blocking(pool<Pool>(), &detail::sync_file, reference(), true);
  }

 private:
  file(descriptor&& owner, blocking_pool* pool) noexcept : descriptor_(std::move(owner)), pool_(pool) {}
  template <class Pool>
  Pool& pool() const {
    return pool_ ? *pool_ : Pool::process_pool();
  }
  detail::file_reference reference() const noexcept {
    detail::open_descriptor& record = detail::descriptor_access::record_of(descriptor_);
    return {&record, record.generation()};
  }

  descriptor descriptor_;
  blocking_pool* pool_ = nullptr;  // null: the pool of the process
};

// Reads the whole file at `path`. One operation opens, reads and closes it. Errors: as file::open() and
// file::read_all().
template <class Pool = blocking_pool>
auto read_file(std::string_view path, std::size_t limit = default_read_limit) {
  return blocking(Pool::process_pool(), &detail::read_named_file, std::string(path), limit);
}
// Replaces the content of the file at `path`; creates the file, if there is none. Returns how many bytes it wrote. If
// it fails in the middle, a part is written. Errors: as file::open() and file::write_at().
template <class Pool = blocking_pool>
auto write_file(std::string_view path, const_buffer data, unsigned permissions = 0666) {
  return blocking(Pool::process_pool(), &detail::write_named_file, std::string(path), data, permissions);
}

}}  // namespace hocket
