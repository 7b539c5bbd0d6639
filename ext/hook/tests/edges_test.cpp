// Edge cases where a fiber could differ from a thread. A review found each as a fault.
#include "blocking.hpp"

#include <hocket/sync/pool.hpp>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <netinet/in.h>
#include <pthread.h>
#include <pty.h>
#include <support/temporary_folder.hpp>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <thread>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;
constexpr auto stream_ends = two_ends::kind::stream;
constexpr auto datagram_ends = two_ends::kind::datagram;

std::size_t read_up_to(int from, std::size_t size) {
  std::vector<char> room(size);
  std::size_t count = 0;
  while (count != size) {
    const ssize_t bytes_read = ::read(from, room.data(), size - count);
    if (bytes_read <= 0) break;
    count += static_cast<std::size_t>(bytes_read);
  }
  return count;
}

}  // namespace

TEST_CASE("a fiber that was killed, or is past its deadline, wakes a loop that sleeps") {
  for (const bool kill : {true, false}) {
    event go;
    std::thread other([&] { CHECK(sync_wait(go.wait()).has_value()); });
    two_ends ends(pipe_ends);
    loop lp;
    auto fiber = spawn(lp, {.within = kill ? duration::max() : 1ms}, hook::hooked([&] {
                         char byte = 0;
                         CHECK(::read(ends.in(), &byte, 1) == -1);
                         for (int i = 0; i < 300; ++i)
                           static_cast<void>(::write(ends.out(), "x", 1));  // the budget is used up
                         go.set();
                       }));
    if (kill) spawn(lp, [&] { fiber.kill(); });
    lp.run();
    other.join();
  }
}

TEST_CASE("a handler that siglongjmp has left is over, also for calls further down on the stack") {
  static sigjmp_buf back;
  two_ends ends(pipe_ends);
  const auto before = std::signal(SIGUSR1, [](int) { siglongjmp(back, 1); });
  struct deep {
    static std::string read(int from, int depth) {
      volatile char room[256] = {};
      static_cast<void>(room);
      return depth == 0 ? read_text(from) : read(from, depth - 1);
    }
  };
  std::string text;
  meet(
      [&] {
        if (sigsetjmp(back, 1) == 0) ::raise(SIGUSR1);
        text = deep::read(ends.in(), 40);
      },
      [&] { write_text(ends.out(), "after"); });
  CHECK(text == "after");
  std::signal(SIGUSR1, before);
}

TEST_CASE("pipes with names and terminals: a large write and its reader, on one thread") {
  const hocket_test::temporary_folder folder;
  const std::string name = folder / "pipe";
  REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
  constexpr std::size_t size = 1'000'000;
  const std::vector<char> bytes(size, 'x');
  std::size_t bytes_read = 0;
  loop lp;
  spawn(lp, hook::hooked([&] {
          const int to = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
          CHECK(::write(to, bytes.data(), size) == ssize_t(size));
          ::close(to);
        }));
  spawn(lp, hook::hooked([&] {
          const int from = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
          bytes_read = read_up_to(from, size);
          ::close(from);
        }));
  lp.run();
  CHECK(bytes_read == size);

  int master = -1, slave = -1;
  REQUIRE(::openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
  termios plain{};
  REQUIRE(::tcgetattr(slave, &plain) == 0);
  ::cfmakeraw(&plain);
  REQUIRE(::tcsetattr(slave, TCSANOW, &plain) == 0);
  constexpr std::size_t some = 200'000;
  meet([&] { CHECK(::write(slave, bytes.data(), some) == ssize_t(some)); },
       [&] {
         const hook::scope in;
         CHECK(read_up_to(master, some) == some);
       });
  ::close(master);
  ::close(slave);
}

TEST_CASE(
    "a number that is ready for ever, while its call would block, is tried by a timer, and the deadline ends it") {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "hocket-edge-%d", ::getpid());
  const auto* const address = reinterpret_cast<const sockaddr*>(&at);
  const int receiver = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
            sender = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(receiver, address, sizeof at) == 0);
  const auto waits = waits_of([&] {
    in_fiber(
        [&] {
          ssize_t sent = 0;
          while (sent >= 0) sent = ::sendto(sender, "x", 1, 0, address, sizeof at);
          CHECK(errno == ETIMEDOUT);
        },
        {.within = 50ms});
  });
  CHECK(waits < 50);
  meet([&] { CHECK(::sendto(sender, "x", 1, 0, address, sizeof at) == 1); },
       [&] {
         char byte = 0;
         while (::recv(receiver, &byte, 1, MSG_DONTWAIT) == 1) {
         }
       });
  ::close(receiver);
  ::close(sender);
}

TEST_CASE("a thread that is cancelled in open or fcntl ends") {
  const hocket_test::temporary_folder folder;
  const std::string name = folder / "pipe";
  REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
  pthread_t thread{};
  REQUIRE(::pthread_create(
              &thread, nullptr,
              [](void* path) -> void* {
                ::open(static_cast<const char*>(path), O_RDONLY | O_CLOEXEC);
                return nullptr;
              },
              const_cast<char*>(name.c_str())) == 0);
  REQUIRE(::pthread_cancel(thread) == 0);
  void* exit_value = nullptr;
  REQUIRE(::pthread_join(thread, &exit_value) == 0);
  CHECK(exit_value == PTHREAD_CANCELED);
}

TEST_CASE("sendmmsg into a stream that is full sends each message whole") {
  constexpr std::size_t size = 1'000'000;
  two_ends ends(stream_ends);
  std::vector<char> first(size, 'a'), second(size, 'b');
  iovec parts[2] = {{first.data(), size}, {second.data(), size}};
  mmsghdr all[2] = {};
  for (int i = 0; i < 2; ++i) {
    all[i].msg_hdr.msg_iov = &parts[i];
    all[i].msg_hdr.msg_iovlen = 1;
  }
  std::size_t bytes_read = 0;
  loop lp;
  spawn(lp, hook::hooked([&] {
          CHECK(::sendmmsg(ends.out(), all, 2, 0) == 2);
          CHECK(all[0].msg_len == size);
          CHECK(all[1].msg_len == size);
          ends.close_out();
        }));
  spawn(lp, hook::hooked([&] { bytes_read = read_up_to(ends.in(), 2 * size); }));
  lp.run();
  CHECK(bytes_read == 2 * size);
}

TEST_CASE("MSG_WAITALL puts no datagrams together") {
  two_ends ends(datagram_ends);
  in_fiber([&] {
    std::array<char, 6> room{};
    CHECK(::send(ends.out(), "abc", 3, 0) == 3);
    CHECK(::send(ends.out(), "def", 3, 0) == 3);
    CHECK(::recv(ends.in(), room.data(), room.size(), MSG_WAITALL) == 3);
    iovec whole{room.data(), room.size()};
    msghdr message{};
    message.msg_iov = &whole;
    message.msg_iovlen = 1;
    CHECK(::recvmsg(ends.in(), &message, MSG_WAITALL) == 3);
  });
}

TEST_CASE("a call that succeeds leaves errno as it was, also after a wait") {
  two_ends ends(stream_ends);
  char byte = 0;
  bool received = false;
  meet(
      [&] {
        errno = 0;
        CHECK(::recv(ends.in(), &byte, 1, 0) == 1);
        CHECK(errno == 0);
        received = true;
        CHECK(::read(ends.in(), &byte, 1) == 0);
        CHECK(errno == 0);
      },
      [&] {
        write_text(ends.out(), "x");
        while (!received) await(yield());  // then the reader waits again
        ends.close_out();
      });
}

TEST_CASE("a read of a file is whole, whatever part of it is in the cache") {
  const hocket_test::temporary_folder folder;
  const std::string name = folder / "file";
  constexpr std::size_t size = 1'000'000;
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  const std::vector<char> bytes(size, 'x');
  REQUIRE(::write(file, bytes.data(), size) == ssize_t(size));
  REQUIRE(::fsync(file) == 0);
  in_fiber([&] {
    std::vector<char> room(size);
    for (int i = 0; i < 5; ++i) {
      CHECK(::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
      CHECK(::pread(file, room.data(), 100, 0) == 100);  // that page is in the cache now
      CHECK(::pread(file, room.data(), size, 0) == ssize_t(size));
      CHECK(room == bytes);
      CHECK(::lseek(file, 10, SEEK_SET) == 10);
      CHECK(::read(file, room.data(), size) == ssize_t(size) - 10);
    }
  });
  ::close(file);
}

TEST_CASE("a pool keeps nothing of a hooked fiber that was ended while it borrowed") {
  for (const stop_level level : {stop_level::cancel, stop_level::kill}) {
    two_ends ends(pipe_ends);
    unsync::pool<int> all({.limit = 1});
    loop lp;
    auto borrows = spawn(lp, hook::hooked([&] {
                           auto lent = await(all.borrow());
                           lent->emplace(1);
                           char byte = 0;
                           CHECK(::read(ends.in(), &byte, 1) == -1);
                         }));
    spawn(lp, [&] { level == stop_level::kill ? borrows.kill() : borrows.cancel(); });
    lp.run();
    CHECK(all.idle() == 0);
    CHECK(all.in_use() == 0);
  }
}

TEST_CASE("bytes that a killed fiber writes while it unwinds are written") {
  two_ends ends(pipe_ends);
  loop lp;
  auto waits = spawn(lp, hook::hooked([&] {
                       const struct says {
                         int to;
                         ~says() { write_text(to, "bye"); }
                       } at_end{ends.out()};
                       static_cast<void>(await(sleep_for(1h)));
                     }));
  spawn(lp, [&] { waits.kill(); });
  lp.run();
  CHECK(read_text(ends.in()) == "bye");
}

TEST_CASE("a send of which a part was sent raises no signal when the peer goes") {
  static std::atomic<int> signals{0};
  const auto before = std::signal(SIGPIPE, [](int) { ++signals; });
  two_ends ends(stream_ends);
  const std::vector<char> bytes(10'000'000);
  signals = 0;
  meet(
      [&] {
        const ssize_t sent = ::send(ends.out(), bytes.data(), bytes.size(), 0);
        CHECK(sent > 0);
        CHECK(sent < ssize_t(bytes.size()));
      },
      [&] { ends.close_in(); });
  CHECK(signals == 0);
  std::signal(SIGPIPE, before);
}

TEST_CASE("select reports the time left, waits despite errors outside of its sets, and takes more than FD_SETSIZE") {
  two_ends ends(pipe_ends), closed(pipe_ends);
  in_fiber([&] {
    write_text(ends.out(), "x");
    fd_set in;
    FD_ZERO(&in);
    FD_SET(ends.in(), &in);
    timeval time{3600, 0};
    CHECK(::select(ends.in() + 1, &in, nullptr, nullptr, &time) == 1);
    CHECK(time.tv_sec < 3600);
    CHECK(time.tv_sec > 3000);
    closed.close_out();
    fd_set other;
    FD_ZERO(&other);
    FD_SET(closed.in(), &other);
    time = {0, 20'000};
    const auto before = std::chrono::steady_clock::now();
    CHECK(::select(closed.in() + 1, nullptr, nullptr, &other, &time) == 0);
    CHECK(std::chrono::steady_clock::now() - before >= 20ms);
    time = {0, 1000};
    CHECK(::select(FD_SETSIZE * 2, nullptr, nullptr, nullptr, &time) == 0);
  });
}

TEST_CASE("a dup2 that fails, or does nothing, ends no wait") {
  two_ends ends(pipe_ends);
  std::string text;
  meet([&] { text = read_text(ends.in()); },
       [&] {
         CHECK(::dup2(-1, ends.in()) == -1);
         CHECK(::dup2(ends.in(), ends.in()) == ends.in());
         CHECK(::dup3(ends.in(), ends.in(), 0) == -1);
         CHECK(::dup3(ends.out(), ends.in(), 12345) == -1);
         CHECK(::close_range(unsigned(ends.in()), unsigned(ends.in()), 12345) == -1);
         write_text(ends.out(), "still");
       });
  CHECK(text == "still");
}

TEST_CASE("accept on a socket that is no listener fails as it does on a thread") {
  const int datagrams = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
            closed = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  in_fiber([&] {
    CHECK(::accept(datagrams, nullptr, nullptr) == -1);
    CHECK(errno == EOPNOTSUPP);
    CHECK(::accept(closed, nullptr, nullptr) == -1);
    CHECK(errno == EINVAL);
  });
  ::close(datagrams);
  ::close(closed);
}

TEST_CASE("a number that another thread closes while a fiber begins to wait: the wait ends") {
  runtime rt({.workers = 1});
  const auto reads = hook::hooked([](int from) {
    char byte = 0;
    return ::read(from, &byte, 1);
  });
  two_ends first(pipe_ends);
  const auto waits_before = hook::collect_statistics().waits;
  auto waits = spawn(rt, reads, first.in());  // so that the worker has its own descriptors before numbers are closed
  while (hook::collect_statistics().waits == waits_before) std::this_thread::yield();
  write_text(first.out(), "x");
  CHECK(sync_wait(waits) == 1);
  for (int round = 0; round < 300; ++round) {
    two_ends ends(pipe_ends);
    const int own = ::dup(ends.in());
    auto late = spawn(rt, reads, own);
    ::close(own);
    CHECK(sync_wait(late) == -1);
  }
}
