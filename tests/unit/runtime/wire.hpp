// Something to read: a pipe.
#pragma once
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

namespace hocket_test {

class wire {
 public:
  wire() { REQUIRE(::pipe2(ends_, O_CLOEXEC | O_NONBLOCK) == 0); }
  wire(wire&& other) noexcept : ends_{other.ends_[0], other.ends_[1]} { other.ends_[0] = other.ends_[1] = -1; }
  wire& operator=(wire&&) = delete;
  ~wire() {
    if (ends_[0] < 0) return;
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  int fd() const noexcept { return ends_[0]; }
  void send() const noexcept { static_cast<void>(!::write(ends_[1], "x", 1)); }
  // Whether there was something.
  bool take() const noexcept {
    char got = 0;
    return ::read(ends_[0], &got, 1) == 1;
  }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace hocket_test
