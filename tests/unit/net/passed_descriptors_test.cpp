// Descriptors that come beside control messages of other kinds.
#include <hocket/core/sync_wait.hpp>
#include <hocket/net/unix_stream.hpp>

#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/socket.h>
#include <vector>

using namespace hocket;

namespace {

constexpr int so_passpidfd = 76;  // Linux 6.5; not in every C library

bool ask_for(const unix_stream& receiver, int option) {
  const int on = 1;
  return ::setsockopt(receiver.native_handle(), SOL_SOCKET, option, &on, sizeof on) == 0;
}

std::ptrdiff_t open_numbers() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

// Everything that this system can add to a message.
void ask_for_all(const unix_stream& receiver) {
  REQUIRE(ask_for(receiver, SO_PASSCRED));
  for (const int option : {int{SO_PASSSEC}, int{SO_TIMESTAMP}, int{SO_TIMESTAMPNS}, so_passpidfd})
    static_cast<void>(ask_for(receiver, option));
}

}  // namespace

TEST_CASE("descriptors behind control messages of other kinds are received") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}, unix_stream::max_fds}) {
    CAPTURE(count);
    auto [near, far] = make_unix_pair().value();
    ask_for_all(far);
    std::array<char, 8> buffer{};
    const std::ptrdiff_t before = open_numbers();
    {
      std::vector<unique_fd> room(count);
      CHECK(sync_wait(near.send_with_fds("word", std::vector<int>(count, 0))) == std::size_t{4});
      const auto returned = sync_wait(far.receive_with_fds(buffer, room)).value();
      CHECK(returned.size == 4);
      CHECK(returned.fds == count);
      CHECK_FALSE(returned.truncated);
      CHECK(open_numbers() == before + static_cast<std::ptrdiff_t>(count));
      for (const unique_fd& current : room) CHECK(::fcntl(current.native_handle(), F_GETFD) == FD_CLOEXEC);
    }
    CHECK(open_numbers() == before);
  }
}

TEST_CASE("control messages of other kinds alone are skipped, and no descriptor of theirs stays open") {
  auto [near, far] = make_unix_pair().value();
  ask_for_all(far);
  std::array<char, 8> buffer{};
  std::array<unique_fd, 2> room;
  const std::ptrdiff_t before = open_numbers();
  for (int i = 0; i < 3; ++i) {
    CHECK(sync_wait(near.write_all("x")) == std::size_t{1});
    const auto returned = sync_wait(far.receive_with_fds(buffer, room)).value();
    CHECK(returned.size == 1);
    CHECK(returned.fds == 0);
    CHECK_FALSE(returned.truncated);
    CHECK(open_numbers() == before);
  }
}

TEST_CASE("a sender of more descriptors than there is room for is told beside other control messages, too") {
  auto [near, far] = make_unix_pair().value();
  ask_for_all(far);
  std::array<char, 8> buffer{};
  for (const std::size_t most : {0u, 1u, 3u}) {
    const std::ptrdiff_t before = open_numbers();
    std::vector<unique_fd> room(most);
    CHECK(sync_wait(near.send_with_fds("x", std::vector<int>(most + 200, 0))) == std::size_t{1});
    const auto returned = sync_wait(far.receive_with_fds(buffer, room)).value();
    CHECK(returned.fds == most);
    CHECK(returned.truncated);
    CHECK(open_numbers() == before + static_cast<std::ptrdiff_t>(most));
  }
}
