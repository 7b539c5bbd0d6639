// An owner that closes its fd in its destructor: for example for an fd that was received from another process, before a
// stream or a file takes it: stream::adopt(fd.release()), file::adopt(...).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// The owner of an fd that no operation uses.
class unique_fd {
 public:
  unique_fd() noexcept = default;
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(other.release()) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    unique_fd old(std::move(*this));
    fd_ = other.release();
    return *this;
  }
  ~unique_fd() {
    if (fd_ >= 0) close();
  }

  explicit operator bool() const noexcept { return fd_ >= 0; }
  // The fd; -1 if there is none.
  int native_handle() const noexcept { return fd_; }
  // Returns the fd, open, and leaves this object empty.
  int release() noexcept { return std::exchange(fd_, -1); }
  void close() noexcept;

 private:
  int fd_ = -1;
};

}}  // namespace hocket
