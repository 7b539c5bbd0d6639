// A descriptor's number that is closed where its owner ends: what was received from another process, for example,
// before something is made of it: stream::adopt(one.release()), file::adopt(...).
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// The owner of an fd that nothing waits at.
class unique_fd {
 public:
  unique_fd() noexcept = default;
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(other.release()) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    unique_fd gone(std::move(*this));
    fd_ = other.release();
    return *this;
  }
  ~unique_fd() {
    if (fd_ >= 0) close();
  }

  explicit operator bool() const noexcept { return fd_ >= 0; }
  // -1: there is none.
  int native_handle() const noexcept { return fd_; }
  // Gives the fd up, open.
  int release() noexcept { return std::exchange(fd_, -1); }
  void close() noexcept;

 private:
  int fd_ = -1;
};

}}  // namespace hocket
