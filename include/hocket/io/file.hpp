// Files: regular files, whose calls may block their thread on the disk. So each operation runs on a thread of a
// blocking_pool, while the coroutine waits.
//
//   auto f = co_await or_return(file::open("data.bin", {.write = true, .create = true}));
//   co_await or_return(f.write_at("forty-two", 4096));
//   co_await or_return(f.sync());
//   auto text = co_await or_return(read_file("/etc/hosts"));                  // in a fiber: await(read_file(...))
//
// Operations are calls of blocking() (runtime/blocking.hpp), on the pool of the process, or on the pool that the file
// was opened with. So:
//   - An operation that stands in the pool's line is ended by a cancel, a kill or a deadline like any other wait, and
//     has done nothing.
//   - An operation that has begun is not interrupted: the coroutine waits for its end and gets its result, whatever
//     else happens meanwhile. So the buffer is not used after the await has returned.
//   - A full line refuses an operation: resource_unavailable_try_again.
//   - An operation costs two changes of threads, some 10 to 50 us. Move much at a time.
//
// Positions are in bytes from the beginning of the file. There is no current position, so operations of one file may
// run at the same time. What happens if two of them write to the same place is up to the system.
//
// Errors. Those of the system calls, and of blocking(); bad_file_descriptor if the file is closed.
//
// Thread safety. One object may be used by any number of coroutines and threads at a time, but for its construction,
// its destruction, and a move from or to it. close() may come at any time.
//
// Operations are templates of the pool's type, so that a program compiles the ones that it uses.
//
// What is no regular file (a pipe, a terminal, a socket) is a stream: stream.hpp. Opening a named pipe occupies a
// thread of the pool until the other side is opened, too.
#pragma once
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/runtime/blocking.hpp>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI {

// How a file is opened. Combinations that make no sense are invalid_argument.
struct file_options {
  bool read = true;
  bool write = false;
  bool append = false;          // append() writes behind the end, wherever that is by then; write_at() does the same
  bool create = false;          // if there is no file
  bool exclusive = false;       // with create: a file that is there already is an error, file_exists
  bool truncate = false;        // with write: what is in the file is removed
  unsigned permissions = 0666;  // of a file that is created, less the umask of the process
};
static_assert(detail::owns_nothing<file_options>);

class file;

namespace detail {

// The file that an operation is for, though its object is closed, moved or destroyed before the operation begins.
struct file_reference {
  open_descriptor* of;
  std::uint32_t generation;
};

// On threads of the pool.
result<file> open_file(const std::string& path, const file_options& options, blocking_pool* pool);
result<std::size_t> read_file_at(file_reference of, mutable_buffer into, std::uint64_t offset) noexcept;
result<std::size_t> write_file_at(file_reference of, const_buffer from, std::uint64_t offset) noexcept;
result<std::size_t> append_to_file(file_reference of, const_buffer from) noexcept;
result<std::string> read_whole_file(file_reference of, std::size_t limit);
result<std::uint64_t> size_of_file(file_reference of) noexcept;
result<void> resize_file(file_reference of, std::uint64_t size) noexcept;
result<void> sync_file(file_reference of, bool data_only) noexcept;
result<std::string> read_named_file(const std::string& path, std::size_t limit);
result<std::size_t> write_named_file(const std::string& path, const_buffer bytes, unsigned permissions);

}  // namespace detail

// The owner of an open file.
class file {
 public:
  // Of nothing: operations give bad_file_descriptor.
  file() noexcept = default;

  // Opens a file; it is not inherited by programs that are started. The path is copied. Errors: as open(2):
  // no_such_file_or_directory, permission_denied, file_exists; invalid_argument.
  template <class Pool = blocking_pool>
  static auto open(std::string_view path, const file_options& options = {}) {
    return blocking(Pool::process_pool(), &detail::open_file, std::string(path), options, static_cast<Pool*>(nullptr));
  }
  // All operations of the file run on this pool, which outlives the file.
  template <std::same_as<blocking_pool> Pool>
  static auto open(Pool& pool, std::string_view path, const file_options& options = {}) {
    return blocking(pool, &detail::open_file, std::string(path), options, &pool);
  }
  // Takes an fd over. Errors: bad_file_descriptor, not_enough_memory; then the fd stays the caller's.
  static result<file> adopt(int fd, blocking_pool* pool = nullptr) noexcept;

  explicit operator bool() const noexcept { return static_cast<bool>(at_); }
  // Its number; -1 if there is none, or it was closed.
  int native_handle() const noexcept { return at_.native_handle(); }
  // Further operations give bad_file_descriptor, also operations that have not begun. The fd is closed when no
  // operation uses it any more. What close(2) says of earlier writes is not told: use sync().
  void close() noexcept { at_.close(); }

  // Reads until the buffer is full, or the file ends; how many bytes. 0: `offset` is at the end or behind it.
  template <class Pool = blocking_pool>
  auto read_at(mutable_buffer into, std::uint64_t offset) const {
    return blocking(pool<Pool>(), &detail::read_file_at, reference(), into, offset);
  }
  // Writes all of the buffer; how many bytes that is. If it fails in the middle, a part may be written.
  template <class Pool = blocking_pool>
  auto write_at(const_buffer from, std::uint64_t offset) {
    return blocking(pool<Pool>(), &detail::write_file_at, reference(), from, offset);
  }
  // Writes all of the buffer behind the end of a file that was opened to append; else invalid_argument.
  template <class Pool = blocking_pool>
  auto append(const_buffer from) {
    return blocking(pool<Pool>(), &detail::append_to_file, reference(), from);
  }
  // The whole file. Errors: file_too_large if it is longer than `limit`.
  template <class Pool = blocking_pool>
  auto read_all(std::size_t limit = default_read_limit) const {
    return blocking(pool<Pool>(), &detail::read_whole_file, reference(), limit);
  }

  // In bytes.
  template <class Pool = blocking_pool>
  auto size() const {
    return blocking(pool<Pool>(), &detail::size_of_file, reference());
  }
  // Cuts the file, or adds zeros.
  template <class Pool = blocking_pool>
  auto resize(std::uint64_t size) {
    return blocking(pool<Pool>(), &detail::resize_file, reference(), size);
  }
  // Until the disk has all that was written before, with what belongs to the file (fsync(2)).
  template <class Pool = blocking_pool>
  auto sync() {
    return blocking(pool<Pool>(), &detail::sync_file, reference(), false);
  }
  // The same, without what need not be there to read it again, as times (fdatasync(2)).
  template <class Pool = blocking_pool>
  auto sync_data() {
    return blocking(pool<Pool>(), &detail::sync_file, reference(), true);
  }

 private:
  file(descriptor&& of, blocking_pool* pool) noexcept : at_(std::move(of)), pool_(pool) {}
  template <class Pool>
  Pool& pool() const {
    return pool_ ? *pool_ : Pool::process_pool();
  }
  detail::file_reference reference() const noexcept {
    detail::open_descriptor& of = detail::descriptor_access::record_of(at_);
    return {&of, of.generation()};
  }

  descriptor at_;
  blocking_pool* pool_ = nullptr;  // null: the pool of the process
};

// The whole file of this name, opened, read and closed by one operation. Errors: as file::open() and file::read_all().
template <class Pool = blocking_pool>
auto read_file(std::string_view path, std::size_t limit = default_read_limit) {
  return blocking(Pool::process_pool(), &detail::read_named_file, std::string(path), limit);
}
// Makes these bytes the whole content of the file of this name, which is created if there is none; how many bytes. If
// it fails in the middle, a part is written. Errors: as file::open() and file::write_at().
template <class Pool = blocking_pool>
auto write_file(std::string_view path, const_buffer bytes, unsigned permissions = 0666) {
  return blocking(Pool::process_pool(), &detail::write_named_file, std::string(path), bytes, permissions);
}

}}  // namespace hocket
