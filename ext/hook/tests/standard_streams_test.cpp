// A standard stream that is a connection (of a log service, of inetd) belongs to all of the program: it is not marked.
#include "alone.hpp"
#include "connection_calls.hpp"

#include <marked_sockets.hpp>
#include <support/children.hpp>
#include <thread>

using namespace hooked_tests;

namespace {

// A connection to a unix listener with a name, as the system's manager makes it for a service.
class log_connection {
 public:
  log_connection() {
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    std::snprintf(place.sun_path + 1, sizeof place.sun_path - 1, "hocket-log-%d", ::getpid());
    const auto* const address = reinterpret_cast<const sockaddr*>(&place);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(listener, address, sizeof place) == 0);
    REQUIRE(::listen(listener, 4) == 0);
    REQUIRE(::connect(client_, address, sizeof place) == 0);
    server_ = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    ::close(listener);
  }
  log_connection(const log_connection&) = delete;
  log_connection& operator=(const log_connection&) = delete;
  ~log_connection() {
    ::close(client_);
    ::close(server_);
  }
  int client() const { return client_; }
  // The text that has arrived.
  std::string text() const {
    std::array<char, 100> bytes{};
    const ssize_t size = ::recv(server_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return {bytes.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
  }

 private:
  const int client_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int server_ = -1;
};

// A fiber whose call at this number is ended leaves the stream as it was.
void end_calls_at(int fd) {
  for (const ending end : endings) {
    CAPTURE(std::string(name_of(end)));
    run_and_end(end, [&] {
      CHECK(::recv(fd, buffer.data(), 1, 0) == -1);
      CHECK(errno == (is_by_time(end) ? ETIMEDOUT : ECANCELED));
    });
    for (const polling& each : polls)
      run_and_end(end, [&] {
        CHECK(each.call(fd, -1) == -1);
        CHECK(errno == ECANCELED);
      });
  }
  two_ends pipe(two_ends::kind::pipe);
  run_and_end(ending::kill, [&] {
    CHECK(::read(pipe.in(), buffer.data(), 1) == -1);
    CHECK(::write(fd, "not logged", 10) == -1);
    CHECK(errno == ECANCELED);
  });
  CHECK_FALSE(hook::has_marks());
}

void log_from_everywhere(int fd) {
  in_fiber([&] { write_text(fd, "fiber "); });
  std::thread([&] { write_text(fd, "thread "); }).join();
}

// Standard input again, after a test has replaced it.
class saved_input {
 public:
  saved_input() = default;
  saved_input(const saved_input&) = delete;
  saved_input& operator=(const saved_input&) = delete;
  ~saved_input() {
    if (copy_ < 0) ::close(STDIN_FILENO);
    else ::dup2(copy_, STDIN_FILENO);
    ::close(copy_);
  }

 private:
  const int copy_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
};

}  // namespace

TEST_CASE("alone: standard error is a connection") {
  if (!is_alone()) return;
  end_calls_at(STDERR_FILENO);
  const int copy = ::dup(STDERR_FILENO);
  end_calls_at(copy);
  log_from_everywhere(STDERR_FILENO);
  ::close(copy);
}

TEST_CASE("a standard stream that is a connection at the start of the program is never marked" *
          doctest::skip(hocket_test::starts_no_children())) {
  log_connection log;
  run_alone("alone: standard error is a connection", [&] { ::dup2(log.client(), STDERR_FILENO); });
  CHECK(log.text() == "fiber thread ");
}

TEST_CASE("a connection that dup2 or dup3 puts in the place of a standard stream is never marked") {
  const saved_input restores;
  const auto expect = [](auto replace) {
    const log_connection log;
    REQUIRE(replace(log.client()) == STDIN_FILENO);
    end_calls_at(STDIN_FILENO);
    end_calls_at(log.client());
    log_from_everywhere(STDIN_FILENO);
    CHECK(log.text() == "fiber thread ");
  };
  expect([](int fd) { return ::dup2(fd, STDIN_FILENO); });
  expect([](int fd) { return ::dup3(fd, STDIN_FILENO, O_CLOEXEC); });
}

TEST_CASE("a connection with the number of a closed standard stream is marked") {
  const saved_input restores;
  const others beside;
  const connection_ends ends;
  ::close(STDIN_FILENO);
  const int fd = ::dup(ends.client());
  REQUIRE(fd == STDIN_FILENO);
  run_and_end(ending::cancel, [&] { CHECK(::recv(fd, buffer.data(), 1, 0) == -1); });
  ends.answer();
  expect_refused_everywhere(fd, beside);
}
