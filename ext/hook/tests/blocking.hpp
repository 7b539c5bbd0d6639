// Shared by the tests of hooked calls.
//
// A loop has one thread. If a call blocked it, the test would hang, because the fiber that ends the wait would never
// run. So a test that ends shows that the call parked.
#pragma once
#include <hocket/hocket.hpp>
#include <hocket/hook/hook.hpp>
#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace hooked_tests {

using namespace hocket;
using namespace std::chrono_literals;

// Two connected descriptors; the destructor closes them.
class two_ends {
 public:
  enum class kind { pipe, stream, datagram };
  explicit two_ends(kind which) {
    if (which == kind::pipe) REQUIRE(::pipe2(ends_.data(), O_CLOEXEC) == 0);
    else
      REQUIRE(::socketpair(AF_UNIX, (which == kind::stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0,
                           ends_.data()) == 0);
  }
  two_ends(const two_ends&) = delete;
  two_ends& operator=(const two_ends&) = delete;
  ~two_ends() {
    close_in();
    close_out();
  }
  int in() const { return ends_[0]; }   // of a pipe: to read from
  int out() const { return ends_[1]; }  // to write to
  void close_in() { close_fd(ends_[0]); }
  void close_out() { close_fd(ends_[1]); }

 private:
  static void close_fd(int& fd) {
    if (fd >= 0) ::close(std::exchange(fd, -1));
  }
  std::array<int, 2> ends_{-1, -1};
};

// Runs `waits` in a hooked fiber; when it waits, runs `ends_the_wait` in another fiber.
template <class Waits, class Ends>
void meet(Waits waits, Ends ends_the_wait, const spawn_options& options = {}) {
  loop lp;
  auto first = spawn(lp, options, hook::hooked(std::move(waits)));
  auto second = spawn(lp, [&] { ends_the_wait(); });
  lp.run();
  sync_wait(first);
  sync_wait(second);
}

// Runs f in a hooked fiber, alone.
template <class F>
void in_fiber(F f, const spawn_options& options = {}) {
  meet(std::move(f), [] {}, options);
}

// How many waits there were while f() ran.
template <class F>
std::uint64_t waits_of(F f) {
  const auto before = hook::collect_statistics().waits;
  f();
  return hook::collect_statistics().waits - before;
}

inline std::string read_text(int from, std::size_t most = 100) {
  std::string text(most, '\0');
  const ssize_t bytes_read = ::read(from, text.data(), text.size());
  text.resize(bytes_read < 0 ? 0 : static_cast<std::size_t>(bytes_read));
  return text;
}
inline void write_text(int to, std::string_view text) {
  CHECK(::write(to, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

}  // namespace hooked_tests
