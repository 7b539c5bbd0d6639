// Calls that move bytes.
#include "blocking.hpp"

#include <cstring>
#include <numeric>
#include <support/temporary_folder.hpp>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;
constexpr auto stream_ends = two_ends::kind::stream;
constexpr auto datagram_ends = two_ends::kind::datagram;

std::vector<char> pattern(std::size_t size) {
  std::vector<char> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 >> 3);
  return bytes;
}

// Reads all that comes, by reads of a few thousand bytes.
std::vector<char> read_all_of(int from) {
  std::vector<char> all, some(5000);
  for (ssize_t bytes_read = ::read(from, some.data(), some.size()); bytes_read > 0;
       bytes_read = ::read(from, some.data(), some.size()))
    all.insert(all.end(), some.begin(), some.begin() + bytes_read);
  return all;
}

iovec part(void* data, std::size_t size) { return {data, size}; }

}  // namespace

TEST_CASE("a read waits for a write, and the thread runs others meanwhile") {
  for (const auto kind : {pipe_ends, stream_ends, datagram_ends}) {
    two_ends ends(kind);
    std::string text;
    meet([&] { text = read_text(ends.in()); }, [&] { write_text(ends.out(), "hello"); });
    CHECK(text == "hello");
  }
}

TEST_CASE("a read does not wait for bytes that are there") {
  two_ends ends(pipe_ends);
  write_text(ends.out(), "hello");
  CHECK(waits_of([&] { in_fiber([&] { CHECK(read_text(ends.in()) == "hello"); }); }) == 0);
}

TEST_CASE("the end of a stream is a read of nothing") {
  two_ends ends(stream_ends);
  char byte = 0;
  meet([&] { CHECK(::recv(ends.in(), &byte, 1, 0) == 0); }, [&] { ends.close_out(); });
}

TEST_CASE("each call that receives waits") {
  two_ends ends(stream_ends);
  std::array<char, 8> room{};
  const auto expect = [&](auto call) {
    room = {};
    ssize_t received = 0;
    meet([&] { received = call(); }, [&] { write_text(ends.out(), "word"); });
    CHECK(received == 4);
    CHECK(std::string_view(room.data(), 4) == "word");
  };
  iovec whole = part(room.data(), room.size());
  msghdr message{};
  message.msg_iov = &whole;
  message.msg_iovlen = 1;
  expect([&] { return ::read(ends.in(), room.data(), room.size()); });
  expect([&] { return ::readv(ends.in(), &whole, 1); });
  expect([&] { return ::recv(ends.in(), room.data(), room.size(), 0); });
  expect([&] { return ::recvfrom(ends.in(), room.data(), room.size(), 0, nullptr, nullptr); });
  expect([&] { return ::recvmsg(ends.in(), &message, 0); });
  expect([&] { return ::preadv2(ends.in(), &whole, 1, -1, 0) < 0 ? ::read(ends.in(), room.data(), room.size()) : 4; });
}

TEST_CASE("each call that sends waits until all is written, as a thread does") {
  const std::vector<char> bytes = pattern(3'000'000);
  const auto expect = [&](two_ends::kind kind, auto call) {
    two_ends ends(kind);
    std::vector<char> received;
    loop lp;
    auto sends = spawn(lp, hook::hooked([&] {
                         const ssize_t sent = call(ends.out());
                         CHECK(sent == static_cast<ssize_t>(bytes.size()));
                         ends.close_out();
                       }));
    auto reads = spawn(lp, hook::hooked([&] { received = read_all_of(ends.in()); }));
    lp.run();
    CHECK(received == bytes);
  };
  std::array<iovec, 40> parts;
  const std::size_t step = bytes.size() / parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = part(const_cast<char*>(bytes.data()) + i * step, step);
  const int count = static_cast<int>(parts.size());
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  for (const auto kind : {pipe_ends, stream_ends}) {
    expect(kind, [&](int to) { return ::write(to, bytes.data(), bytes.size()); });
    expect(kind, [&](int to) { return ::writev(to, parts.data(), count); });
  }
  expect(stream_ends, [&](int to) { return ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
  expect(stream_ends, [&](int to) { return ::sendto(to, bytes.data(), bytes.size(), MSG_NOSIGNAL, nullptr, 0); });
  expect(stream_ends, [&](int to) { return ::sendmsg(to, &message, MSG_NOSIGNAL); });
}

TEST_CASE("MSG_WAITALL waits for all, MSG_DONTWAIT for nothing") {
  two_ends ends(stream_ends);
  std::array<char, 6> room{};
  iovec halves[2] = {part(room.data(), 2), part(room.data() + 2, 4)};
  msghdr message{};
  message.msg_iov = halves;
  message.msg_iovlen = 2;
  const auto write_both = [&] {
    write_text(ends.out(), "abc");
    await(yield());
    await(yield());
    write_text(ends.out(), "def");
  };
  meet([&] { CHECK(::recv(ends.in(), room.data(), room.size(), MSG_WAITALL) == 6); }, write_both);
  CHECK(std::string_view(room.data(), 6) == "abcdef");
  room = {};
  meet([&] { CHECK(::recvmsg(ends.in(), &message, MSG_WAITALL) == 6); }, write_both);
  CHECK(std::string_view(room.data(), 6) == "abcdef");
  in_fiber([&] {
    CHECK(::recv(ends.in(), room.data(), room.size(), MSG_DONTWAIT) == -1);
    CHECK(errno == EAGAIN);
  });
}

TEST_CASE("batches of messages: recvmmsg waits for all, sendmmsg until all are sent") {
  constexpr std::size_t count = 200;
  two_ends ends(datagram_ends);
  std::vector<int> sent(count), received(count);
  std::iota(sent.begin(), sent.end(), 1);
  std::vector<iovec> out, in;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(part(&sent[i], sizeof(int)));
    in.push_back(part(&received[i], sizeof(int)));
  }
  std::vector<mmsghdr> to(count), from(count);
  for (std::size_t i = 0; i < count; ++i) {
    to[i].msg_hdr.msg_iov = &out[i];
    from[i].msg_hdr.msg_iov = &in[i];
    to[i].msg_hdr.msg_iovlen = from[i].msg_hdr.msg_iovlen = 1;
  }
  loop lp;
  auto receives =
      spawn(lp, hook::hooked([&] { CHECK(::recvmmsg(ends.in(), from.data(), count, 0, nullptr) == count); }));
  auto sends = spawn(lp, hook::hooked([&] { CHECK(::sendmmsg(ends.out(), to.data(), count, 0) == count); }));
  lp.run();
  CHECK(received == sent);
  in_fiber([&] {
    CHECK(::send(ends.out(), &sent[0], sizeof(int), 0) == sizeof(int));
    CHECK(::recvmmsg(ends.in(), from.data(), count, MSG_WAITFORONE, nullptr) == 1);
  });
}

TEST_CASE("what is no socket and no pipe waits, too: eventfd, timerfd") {
  const int counter = ::eventfd(0, EFD_CLOEXEC), timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  std::uint64_t number = 0;
  meet([&] { CHECK(::read(counter, &number, sizeof number) == sizeof number); },
       [&] {
         const std::uint64_t seven = 7;
         CHECK(::write(counter, &seven, sizeof seven) == sizeof seven);
       });
  CHECK(number == 7);
  itimerspec soon{};
  soon.it_value.tv_nsec = 1'000'000;
  REQUIRE(::timerfd_settime(timer, 0, &soon, nullptr) == 0);
  in_fiber([&] { CHECK(::read(timer, &number, sizeof number) == sizeof number); });
  CHECK(number == 1);
  ::close(counter);
  ::close(timer);
}

TEST_CASE("a descriptor that the user made non-blocking does not wait") {
  two_ends ends(stream_ends);
  REQUIRE(::fcntl(ends.in(), F_SETFL, O_NONBLOCK) == 0);
  in_fiber([&] {
    char byte = 0;
    CHECK(::read(ends.in(), &byte, 1) == -1);
    CHECK(errno == EAGAIN);
    CHECK(::recv(ends.in(), &byte, 1, 0) == -1);
    CHECK(errno == EAGAIN);
  });
}

TEST_CASE("no descriptor is made non-blocking") {
  two_ends ends(stream_ends);
  meet([&] { read_text(ends.in()); },
       [&] {
         CHECK((::fcntl(ends.in(), F_GETFL) & O_NONBLOCK) == 0);
         write_text(ends.out(), "x");
       });
  CHECK((::fcntl(ends.in(), F_GETFL) & O_NONBLOCK) == 0);
}

TEST_CASE("errors are those of the system") {
  in_fiber([&] {
    char byte = 0;
    errno = 0;
    CHECK(::read(-1, &byte, 1) == -1);
    CHECK(errno == EBADF);
    CHECK(::recv(-1, &byte, 1, 0) == -1);
    CHECK(errno == EBADF);
    two_ends ends(pipe_ends);
    CHECK(::recv(ends.in(), &byte, 1, 0) == -1);
    CHECK(errno == ENOTSOCK);
    CHECK(::pread(ends.in(), &byte, 1, 0) == -1);
    CHECK(errno == ESPIPE);
    CHECK(::pread(ends.in(), &byte, 1, -1) == -1);
    CHECK(errno == EINVAL);
    void* const nowhere = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(::writev(ends.out(), static_cast<iovec*>(nowhere), 1) == -1);
    CHECK(errno == EFAULT);
    ::munmap(nowhere, 4096);
  });
}

TEST_CASE("two readers of one stream: each byte is received once") {
  two_ends ends(stream_ends);
  std::string first, second;
  loop lp;
  auto first_reader = spawn(lp, hook::hooked([&] { first = read_text(ends.in(), 1); }));
  auto second_reader = spawn(lp, hook::hooked([&] { second = read_text(ends.in(), 1); }));
  auto writes = spawn(lp, [&] {
    write_text(ends.out(), "a");
    while (first.empty() && second.empty()) await(yield());
    write_text(ends.out(), "b");
  });
  lp.run();
  CHECK((first + second == "ab" || first + second == "ba"));
}

TEST_CASE("a reader and a writer use a socket at once") {
  two_ends ends(stream_ends);
  const std::vector<char> bytes = pattern(1'000'000);
  std::vector<char> received(bytes.size());
  loop lp;
  auto reads = spawn(lp, hook::hooked([&] { CHECK(read_text(ends.in()) == "late"); }));
  auto writes =
      spawn(lp, hook::hooked([&] { CHECK(::write(ends.in(), bytes.data(), bytes.size()) == ssize_t(bytes.size())); }));
  auto peer =
      spawn(lp, hook::hooked([&] {
              CHECK(::recv(ends.out(), received.data(), received.size(), MSG_WAITALL) == ssize_t(received.size()));
              write_text(ends.out(), "late");
            }));
  lp.run();
  CHECK(received == bytes);
}

TEST_CASE("sendfile and splice into a stream that is full") {
  const std::vector<char> bytes = pattern(2'000'000);
  const int file = ::memfd_create("file", MFD_CLOEXEC);
  REQUIRE(::write(file, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
  two_ends ends(stream_ends);
  off_t at = 1000;
  std::vector<char> received;
  loop lp;
  auto sends = spawn(lp, hook::hooked([&] {
                       CHECK(::sendfile(ends.out(), file, &at, bytes.size()) == ssize_t(bytes.size()) - 1000);
                       ends.close_out();
                     }));
  auto reads = spawn(lp, hook::hooked([&] { received = read_all_of(ends.in()); }));
  lp.run();
  CHECK(at == ssize_t(bytes.size()));
  CHECK(std::vector<char>(bytes.begin() + 1000, bytes.end()) == received);

  two_ends pipe(pipe_ends), socket(stream_ends);
  ssize_t moved = 0;
  meet([&] { moved = ::splice(pipe.in(), nullptr, socket.out(), nullptr, 100, 0); },
       [&] { write_text(pipe.out(), "word"); });
  CHECK(moved == 4);
  CHECK(read_text(socket.in()) == "word");
  ::close(file);
}

TEST_CASE("files: read and written as without hooks, on the pool where the disk is asked") {
  const hocket_test::temporary_folder folder;
  const std::string name = folder / "file", none = folder / "none/none";
  in_fiber([&] {
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    write_text(file, "some words");
    CHECK(::pwrite(file, "W", 1, 5) == 1);
    CHECK(::fsync(file) == 0);
    CHECK(::fdatasync(file) == 0);
    std::array<char, 16> room{};
    CHECK(::pread(file, room.data(), room.size(), 5) == 5);
    CHECK(std::string_view(room.data(), 5) == "Words");
    CHECK(::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
    CHECK(::lseek(file, 0, SEEK_SET) == 0);
    CHECK(read_text(file) == "some Words");
    CHECK(read_text(file).empty());
    ::close(file);
    errno = 0;
    CHECK(::open(none.c_str(), O_RDONLY) == -1);
    CHECK(errno == ENOENT);
  });
}

TEST_CASE("outside of a hooked fiber a call is libc's") {
  two_ends ends(pipe_ends);
  const auto before = hook::collect_statistics().calls;
  write_text(ends.out(), "a");
  CHECK(read_text(ends.in()) == "a");
  loop lp;
  auto plain = spawn(lp, [&] {
    write_text(ends.out(), "b");
    CHECK(read_text(ends.in()) == "b");
  });
  lp.run();
  CHECK(hook::collect_statistics().calls == before);
}
