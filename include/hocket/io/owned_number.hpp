// A descriptor's number that is closed where its owner ends: what was received from another process, for example,
// before something is made of it: stream::adopt(one.release()), file::adopt(...).
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// The owner of a number that nothing waits at.
class unique_fd {
 public:
  unique_fd() noexcept = default;
  explicit unique_fd(int number) noexcept : number_(number) {}
  unique_fd(unique_fd&& other) noexcept : number_(other.release()) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    unique_fd gone(std::move(*this));
    number_ = other.release();
    return *this;
  }
  ~unique_fd() {
    if (number_ >= 0) close();
  }

  explicit operator bool() const noexcept { return number_ >= 0; }
  // -1: there is none.
  int number() const noexcept { return number_; }
  // Gives the number up, open.
  int release() noexcept { return std::exchange(number_, -1); }
  void close() noexcept;

 private:
  int number_ = -1;
};

}}  // namespace hocket
