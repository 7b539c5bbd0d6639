// Rows of the table "thread against fiber": descriptors, pipes and files.
#include "thread_and_fiber.hpp"

#include <atomic>
#include <csignal>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

namespace hooked_tests {

namespace {

constexpr auto stream_ends = two_ends::kind::stream;
constexpr auto pipe_ends = two_ends::kind::pipe;
constexpr int closed_number = 900;

// A file in memory with ten bytes, at position 2.
class memory_file {
 public:
  memory_file() {
    REQUIRE(::write(fd_, "0123456789", 10) == 10);
    REQUIRE(::lseek(fd_, 2, SEEK_SET) == 2);
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(fd_); }
  int fd() const { return fd_; }
  // Its position and bytes.
  std::string state() const {
    std::array<char, 32> bytes{};
    const ssize_t size = ::pread(fd_, bytes.data(), bytes.size(), 0);
    return std::to_string(::lseek(fd_, 0, SEEK_CUR)) + " " + std::string(bytes.data(), static_cast<std::size_t>(size));
  }

 private:
  const int fd_ = ::memfd_create("rows", MFD_CLOEXEC);
};

struct opened {
  explicit opened(const char* path, int flags) : fd(::open(path, flags | O_CLOEXEC)) { REQUIRE(fd >= 0); }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  ~opened() { ::close(fd); }
  const int fd;
};

struct two_parts {
  std::array<char, 8> first{"......."}, second{"......."};
  std::array<iovec, 2> parts{iovec{first.data(), 3}, {second.data(), 4}};
  std::string text() const { return std::string(first.data()) + second.data(); }
};

template <class Read>
observation reads(Read read) {
  two_parts to;
  return measure([&] { return read(to); }, [&] { return to.text(); });
}

two_parts text_parts() {
  two_parts from;
  from.first = {"abc"};
  from.second = {"defg"};
  from.parts = {iovec{from.first.data(), 3}, {from.second.data(), 4}};
  return from;
}

// A write or transfer to a peer that goes after a part: for pipes a thread gets SIGPIPE, too.
template <class Write>
observation write_to_leaving_peer(two_ends::kind kind, Write write) {
  static std::atomic<int> signals{0};
  signals = 0;
  const auto before = std::signal(SIGPIPE, [](int) { ++signals; });
  two_ends ends(kind);
  observation observed;
  {
    std::thread peer([&] {
      pollfd pfd{ends.out(), POLLOUT, 0};
      while (::poll(&pfd, 1, 0) != 0) std::this_thread::yield();  // until the writer waits for room
      ends.close_in();
    });
    observed = measure([&] { return write(ends.out()); });
    peer.join();
  }
  std::signal(SIGPIPE, before);
  observed.result = observed.result > 0 && observed.result < static_cast<long>(buffer.size());
  observed.output = std::to_string(signals) + " signals";
  return observed;
}
ssize_t write_buffer(int fd) { return ::write(fd, buffer.data(), buffer.size()); }
ssize_t writev_buffer(int fd) {
  const std::array<iovec, 2> parts{iovec{buffer.data(), 1000}, {buffer.data() + 1000, buffer.size() - 1000}};
  return ::writev(fd, parts.data(), 2);
}
ssize_t pwritev2_buffer(int fd) {
  const iovec part{buffer.data(), buffer.size()};
  return ::pwritev2(fd, &part, 1, -1, 0);
}

template <class Write>
observation write_to_closed(two_ends::kind kind, Write write) {
  static std::atomic<int> signals{0};
  signals = 0;
  const auto before = std::signal(SIGPIPE, [](int) { ++signals; });
  two_ends ends(kind);
  ends.close_in();
  observation observed = measure([&] { return write(ends.out()); });
  std::signal(SIGPIPE, before);
  observed.output = std::to_string(signals) + " signals";
  return observed;
}

observation send_file(int to, int from, off_t* offset, std::size_t size) {
  return measure([&] { return ::sendfile(to, from, offset, size); },
                 [&] { return offset ? std::to_string(*offset) : std::string(); });
}

template <class Call>
observation with_pipes(Call call) {
  two_ends from(pipe_ends), to(pipe_ends);
  write_text(from.out(), "abcdef");
  return measure([&] { return call(from.in(), to.out()); },
                 [&] {
                   ::fcntl(to.in(), F_SETFL, O_NONBLOCK);
                   ::fcntl(from.in(), F_SETFL, O_NONBLOCK);
                   return read_text(to.in()) + " " + read_text(from.in());
                 });
}

observation copied(int (*copy)(int fd)) {
  two_ends ends(pipe_ends);
  int number = -1;
  observation observed = measure([&] { return (number = copy(ends.in())) >= 0; });
  observed.output = std::to_string(::fcntl(number, F_GETFD));
  if (number >= 0) ::close(number);
  return observed;
}

observation locked_file(int (*lock)(int fd)) {
  const memory_file file;
  return measure([&] { return lock(file.fd()); });
}

const row rows[] = {
    // --- read
    {"read", "of a file",
     [] {
       memory_file f;
       observation o = reads([&](two_parts& to) { return ::read(f.fd(), to.first.data(), 5); });
       o.output += f.state();
       return o;
     }},
    {"read", "nothing",
     [] {
       two_ends e(stream_ends);
       return measure([&] { return ::read(e.in(), nullptr, 0); });
     }},
    {"read", "the end of a file",
     [] {
       memory_file f;
       ::lseek(f.fd(), 0, SEEK_END);
       return measure([&] { return ::read(f.fd(), buffer.data(), 5); });
     }},
    {"read", "a folder",
     [] {
       opened f("/", O_RDONLY);
       return measure([&] { return ::read(f.fd, buffer.data(), 5); });
     }},
    {"read", "a file to write to",
     [] {
       opened f("/dev/null", O_WRONLY);
       return measure([&] { return ::read(f.fd, buffer.data(), 5); });
     }},
    {"read", "a closed number", [] { return measure([] { return ::read(closed_number, buffer.data(), 5); }); }},
    {"read", "a bad address",
     [] {
       two_ends e(pipe_ends);
       write_text(e.out(), "a");
       return measure([&] { return ::read(e.in(), bad_address(), 1); });
     }},
    {"read", "O_NONBLOCK",
     [] {
       two_ends e(pipe_ends);
       ::fcntl(e.in(), F_SETFL, O_NONBLOCK);
       return measure([&] { return ::read(e.in(), buffer.data(), 5); });
     }},
    {"read", "after a wait",
     [] {
       two_ends e(pipe_ends);
       std::thread w([&] { write_text(e.out(), "ab"); });
       observation o = reads([&](two_parts& to) { return ::read(e.in(), to.first.data(), 5); });
       w.join();
       return o;
     }},
    {"read", "SO_RCVTIMEO",
     [] {
       two_ends e(stream_ends);
       const timeval t{0, 2000};
       ::setsockopt(e.in(), SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
       return measure([&] { return ::read(e.in(), buffer.data(), 5); });
     }},
    {"read", "/dev/zero",
     [] {
       opened f("/dev/zero", O_RDONLY);
       return measure([&] { return ::read(f.fd, buffer.data(), 5); });
     }},
    {"readv", "of a file",
     [] {
       memory_file f;
       return reads([&](two_parts& to) { return ::readv(f.fd(), to.parts.data(), 2); });
     }},
    {"readv", "a negative count",
     [] {
       two_ends e(pipe_ends);
       return measure([&] { return ::readv(e.in(), nullptr, negative_count()); });
     }},
    {"readv", "no parts",
     [] {
       two_ends e(pipe_ends);
       return measure([&] { return ::readv(e.in(), nullptr, 0); });
     }},
    {"pread", "of a file",
     [] {
       memory_file f;
       observation o = reads([&](two_parts& to) { return ::pread(f.fd(), to.first.data(), 5, 4); });
       o.output += f.state();
       return o;
     }},
    {"pread", "at -1",
     [] {
       memory_file f;
       return measure([&] { return ::pread(f.fd(), buffer.data(), 5, -1); });
     }},
    {"pread", "a pipe",
     [] {
       two_ends e(pipe_ends);
       return measure([&] { return ::pread(e.in(), buffer.data(), 5, 0); });
     }},
    {"preadv", "of a file",
     [] {
       memory_file f;
       return reads([&](two_parts& to) { return ::preadv(f.fd(), to.parts.data(), 2, 1); });
     }},
    {"preadv", "at -1",
     [] {
       memory_file f;
       return reads([&](two_parts& to) { return ::preadv(f.fd(), to.parts.data(), 2, -1); });
     }},
    {"preadv2", "at the file's own position",
     [] {
       memory_file f;
       observation o = reads([&](two_parts& to) { return ::preadv2(f.fd(), to.parts.data(), 2, -1, 0); });
       o.output += f.state();
       return o;
     }},
    {"preadv2", "at -2",
     [] {
       memory_file f;
       return reads([&](two_parts& to) { return ::preadv2(f.fd(), to.parts.data(), 2, -2, 0); });
     }},
    {"preadv2", "RWF_NOWAIT",
     [] {
       two_ends e(pipe_ends);
       return reads([&](two_parts& to) { return ::preadv2(e.in(), to.parts.data(), 2, -1, RWF_NOWAIT); });
     }},
    {"preadv2", "an unknown flag",
     [] {
       memory_file f;
       return reads([&](two_parts& to) { return ::preadv2(f.fd(), to.parts.data(), 2, 0, 1 << 20); });
     }},
    // --- write
    {"write", "to a file",
     [] {
       memory_file f;
       observation o = measure([&] { return ::write(f.fd(), "abc", 3); });
       o.output = f.state();
       return o;
     }},
    {"write", "nothing",
     [] {
       two_ends e(stream_ends);
       return measure([&] { return ::write(e.out(), nullptr, 0); });
     }},
    {"write", "a file to read from",
     [] {
       opened f("/dev/null", O_RDONLY);
       return measure([&] { return ::write(f.fd, "a", 1); });
     }},
    {"write", "a closed number", [] { return measure([] { return ::write(closed_number, "a", 1); }); }},
    {"write", "a bad address",
     [] {
       two_ends e(stream_ends);
       return measure([&] { return ::write(e.out(), bad_address(), 1); });
     }},
    {"write", "O_NONBLOCK",
     [] {
       two_ends e(pipe_ends);
       ::fcntl(e.out(), F_SETFL, O_NONBLOCK);
       while (::write(e.out(), buffer.data(), 4096) > 0) {
       }
       return measure([&] { return ::write(e.out(), "a", 1); });
     }},
    {"write", "a stream to a closed peer", [] { return write_to_closed(stream_ends, write_buffer); }},
    {"write", "a pipe without a reader", [] { return write_to_closed(pipe_ends, write_buffer); }},
    {"write", "the peer of a stream goes after a part",
     [] { return write_to_leaving_peer(stream_ends, write_buffer); }},
    {"write", "the reader of a pipe goes after a part", [] { return write_to_leaving_peer(pipe_ends, write_buffer); }},
    {"writev", "to a file",
     [] {
       memory_file f;
       two_parts from = text_parts();
       observation o = measure([&] { return ::writev(f.fd(), from.parts.data(), 2); });
       o.output = f.state();
       return o;
     }},
    {"writev", "a bad address",
     [] {
       two_ends e(stream_ends);
       const iovec part{bad_address(), 5};
       return measure([&] { return ::writev(e.out(), &part, 1); });
     }},
    {"writev", "a negative count",
     [] {
       two_ends e(stream_ends);
       return measure([&] { return ::writev(e.out(), nullptr, negative_count()); });
     }},
    {"writev", "the peer of a stream goes after a part",
     [] { return write_to_leaving_peer(stream_ends, writev_buffer); }},
    {"writev", "the reader of a pipe goes after a part",
     [] { return write_to_leaving_peer(pipe_ends, writev_buffer); }},
    {"pwrite", "to a file",
     [] {
       memory_file f;
       observation o = measure([&] { return ::pwrite(f.fd(), "abc", 3, 5); });
       o.output = f.state();
       return o;
     }},
    {"pwrite", "at -1",
     [] {
       memory_file f;
       observation o = measure([&] { return ::pwrite(f.fd(), "abc", 3, -1); });
       o.output = f.state();
       return o;
     }},
    {"pwrite", "a socket",
     [] {
       two_ends e(stream_ends);
       return measure([&] { return ::pwrite(e.out(), "abc", 3, 0); });
     }},
    {"pwritev", "to a file",
     [] {
       memory_file f;
       two_parts from = text_parts();
       observation o = measure([&] { return ::pwritev(f.fd(), from.parts.data(), 2, 1); });
       o.output = f.state();
       return o;
     }},
    {"pwritev", "at -1",
     [] {
       memory_file f;
       two_parts from = text_parts();
       observation o = measure([&] { return ::pwritev(f.fd(), from.parts.data(), 2, -1); });
       o.output = f.state();
       return o;
     }},
    {"pwritev2", "at the file's own position",
     [] {
       memory_file f;
       two_parts from = text_parts();
       observation o = measure([&] { return ::pwritev2(f.fd(), from.parts.data(), 2, -1, 0); });
       o.output = f.state();
       return o;
     }},
    {"pwritev2", "RWF_APPEND",
     [] {
       memory_file f;
       two_parts from = text_parts();
       observation o = measure([&] { return ::pwritev2(f.fd(), from.parts.data(), 2, 0, RWF_APPEND); });
       o.output = f.state();
       return o;
     }},
    {"pwritev2", "the peer of a stream goes after a part",
     [] { return write_to_leaving_peer(stream_ends, pwritev2_buffer); }},
    {"eventfd_read", "a count",
     [] {
       const int fd = ::eventfd(3, EFD_CLOEXEC);
       eventfd_t v = 0;
       observation o = measure([&] { return ::eventfd_read(fd, &v); });
       o.output = std::to_string(v);
       ::close(fd);
       return o;
     }},
    {"eventfd_read", "a pipe",
     [] {
       two_ends e(pipe_ends);
       write_text(e.out(), "abc");
       eventfd_t v = 0;
       return measure([&] { return ::eventfd_read(e.in(), &v); });
     }},
    {"eventfd_write", "a count",
     [] {
       const int fd = ::eventfd(0, EFD_CLOEXEC);
       observation o = measure([&] { return ::eventfd_write(fd, 4); });
       ::close(fd);
       return o;
     }},
    {"eventfd_write", "the largest value",
     [] {
       const int fd = ::eventfd(0, EFD_CLOEXEC);
       observation o = measure([&] { return ::eventfd_write(fd, ~eventfd_t{0}); });
       ::close(fd);
       return o;
     }},
    // --- between descriptors
    {"sendfile", "with an offset",
     [] {
       memory_file f;
       two_ends e(stream_ends);
       off_t at = 4;
       observation o = send_file(e.out(), f.fd(), &at, 3);
       o.output += f.state() + read_text(e.in());
       return o;
     }},
    {"sendfile", "without an offset",
     [] {
       memory_file f;
       two_ends e(stream_ends);
       observation o = send_file(e.out(), f.fd(), nullptr, 3);
       o.output += f.state() + read_text(e.in());
       return o;
     }},
    {"sendfile", "beyond the end",
     [] {
       memory_file f;
       two_ends e(stream_ends);
       off_t at = 8;
       observation o = send_file(e.out(), f.fd(), &at, 30);
       o.output += f.state();
       return o;
     }},
    {"sendfile", "nothing",
     [] {
       memory_file f;
       two_ends e(stream_ends);
       off_t at = 1;
       return send_file(e.out(), f.fd(), &at, 0);
     }},
    {"sendfile", "into a file",
     [] {
       memory_file f, to;
       off_t at = 1;
       observation o = send_file(to.fd(), f.fd(), &at, 3);
       o.output += to.state();
       return o;
     }},
    {"sendfile", "from a pipe",
     [] {
       two_ends p(pipe_ends), e(stream_ends);
       write_text(p.out(), "abc");
       return send_file(e.out(), p.in(), nullptr, 3);
     }},
    {"sendfile", "from a pipe with an offset",
     [] {
       two_ends p(pipe_ends), e(stream_ends);
       off_t at = 0;
       return send_file(e.out(), p.in(), &at, 3);
     }},
    {"sendfile", "from a socket",
     [] {
       two_ends p(stream_ends), e(stream_ends);
       write_text(p.out(), "abc");
       return send_file(e.out(), p.in(), nullptr, 3);
     }},
    {"sendfile", "from a folder",
     [] {
       opened f("/", O_RDONLY);
       two_ends e(stream_ends);
       return send_file(e.out(), f.fd, nullptr, 3);
     }},
    {"sendfile", "from a file to write to",
     [] {
       opened f("/dev/null", O_WRONLY);
       two_ends e(stream_ends);
       return send_file(e.out(), f.fd, nullptr, 3);
     }},
    {"sendfile", "a negative offset",
     [] {
       memory_file f;
       two_ends e(stream_ends);
       off_t at = -5;
       return send_file(e.out(), f.fd(), &at, 3);
     }},
    {"sendfile", "closed numbers",
     [] {
       memory_file f;
       return send_file(closed_number, f.fd(), nullptr, 3);
     }},
    {"sendfile", "from a closed number",
     [] {
       two_ends e(stream_ends);
       return send_file(e.out(), closed_number, nullptr, 3);
     }},
    {"sendfile", "O_NONBLOCK",
     [] {
       memory_file f;
       two_ends e(stream_ends);
       ::fcntl(e.out(), F_SETFL, O_NONBLOCK);
       off_t at = 4;
       return send_file(e.out(), f.fd(), &at, 3);
     }},
    {"splice", "between pipes",
     [] { return with_pipes([](int from, int to) { return ::splice(from, nullptr, to, nullptr, 4, 0); }); }},
    {"splice", "no pipe",
     [] {
       memory_file f;
       two_ends e(stream_ends);
       return measure([&] { return ::splice(f.fd(), nullptr, e.out(), nullptr, 4, 0); });
     }},
    {"splice", "SPLICE_F_NONBLOCK",
     [] {
       two_ends p(pipe_ends), e(stream_ends);
       return measure([&] { return ::splice(p.in(), nullptr, e.out(), nullptr, 4, SPLICE_F_NONBLOCK); });
     }},
    {"tee", "between pipes", [] { return with_pipes([](int from, int to) { return ::tee(from, to, 4, 0); }); }},
    {"tee", "SPLICE_F_NONBLOCK",
     [] {
       two_ends p(pipe_ends), q(pipe_ends);
       return measure([&] { return ::tee(p.in(), q.out(), 4, SPLICE_F_NONBLOCK); });
     }},
    {"tee", "O_NONBLOCK",
     [] {
       two_ends p(pipe_ends), q(pipe_ends);
       ::fcntl(p.in(), F_SETFL, O_NONBLOCK);
       return measure([&] { return ::tee(p.in(), q.out(), 4, 0); });
     }},
    {"tee", "no pipe",
     [] {
       two_ends p(pipe_ends);
       memory_file f;
       return measure([&] { return ::tee(f.fd(), p.out(), 4, 0); });
     }},
    {"tee", "the end",
     [] {
       two_ends p(pipe_ends), q(pipe_ends);
       p.close_out();
       return measure([&] { return ::tee(p.in(), q.out(), 4, 0); });
     }},
    {"vmsplice", "into a pipe",
     [] {
       return with_pipes([](int, int to) {
         static char text[] = "xyz";
         const iovec part{text, 3};
         return ::vmsplice(to, &part, 1, 0);
       });
     }},
    {"vmsplice", "out of a pipe",
     [] {
       two_ends p(pipe_ends);
       write_text(p.out(), "abc");
       return reads([&](two_parts& to) { return ::vmsplice(p.in(), to.parts.data(), 2, 0); });
     }},
    {"vmsplice", "no pipe",
     [] {
       memory_file f;
       two_parts from = text_parts();
       return measure([&] { return ::vmsplice(f.fd(), from.parts.data(), 2, 0); });
     }},
    {"vmsplice", "SPLICE_F_NONBLOCK",
     [] {
       two_ends p(pipe_ends);
       two_parts to;
       return measure([&] { return ::vmsplice(p.in(), to.parts.data(), 2, SPLICE_F_NONBLOCK); });
     }},
    {"copy_file_range", "between files",
     [] {
       memory_file a, b;
       observation o = measure([&] { return ::copy_file_range(a.fd(), nullptr, b.fd(), nullptr, 3, 0); });
       o.output = a.state() + b.state();
       return o;
     }},
    {"copy_file_range", "a pipe",
     [] {
       memory_file a;
       two_ends p(pipe_ends);
       return measure([&] { return ::copy_file_range(a.fd(), nullptr, p.out(), nullptr, 3, 0); });
     }},
    // --- numbers
    {"close", "twice",
     [] {
       const int fd = ::dup(0);
       ::close(fd);
       return measure([&] { return ::close(fd); });
     }},
    {"close_range", "an invalid flag", [] { return measure([] { return ::close_range(950, 960, 12345); }); }},
    {"close_range", "no number", [] { return measure([] { return ::close_range(950, 960, 0); }); }},
    {"closefrom", "no number", [] { return measure([] { return ::closefrom(960), 0; }); }},
    {"dup", "a number", [] { return copied([](int fd) { return ::dup(fd); }); }},
    {"dup", "a closed number", [] { return measure([] { return ::dup(closed_number); }); }},
    {"dup2", "a number", [] { return copied([](int fd) { return ::dup2(fd, 940); }); }},
    {"dup2", "itself",
     [] {
       two_ends e(pipe_ends);
       return measure([&] { return ::dup2(e.in(), e.in()) == e.in(); });
     }},
    {"dup2", "a closed number", [] { return measure([] { return ::dup2(closed_number, 940); }); }},
    {"dup3", "O_CLOEXEC", [] { return copied([](int fd) { return ::dup3(fd, 940, O_CLOEXEC); }); }},
    {"dup3", "itself",
     [] {
       two_ends e(pipe_ends);
       return measure([&] { return ::dup3(e.in(), e.in(), 0); });
     }},
    {"fcntl", "F_DUPFD_CLOEXEC", [] { return copied([](int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 940); }); }},
    {"fcntl", "F_SETLKW, an invalid type",
     [] {
       return locked_file([](int fd) {
         struct flock all{};
         all.l_type = 77;
         return ::fcntl(fd, F_SETLKW, &all);
       });
     }},
    {"fcntl", "F_SETLKW",
     [] {
       return locked_file([](int fd) {
         struct flock all{};
         all.l_type = F_WRLCK;
         return ::fcntl(fd, F_SETLKW, &all);
       });
     }},
    {"fcntl", "F_OFD_SETLKW",
     [] {
       return locked_file([](int fd) {
         struct flock all{};
         all.l_type = F_WRLCK;
         return ::fcntl(fd, F_OFD_SETLKW, &all);
       });
     }},
    {"fcntl", "F_SETLKW, a write lock of a file to read from",
     [] {
       opened f("/proc/self/exe", O_RDONLY);
       struct flock all{};
       all.l_type = F_WRLCK;
       return measure([&] { return ::fcntl(f.fd, F_SETLKW, &all); });
     }},
    {"flock", "a lock", [] { return locked_file([](int fd) { return ::flock(fd, LOCK_EX); }); }},
    {"flock", "an invalid operation", [] { return locked_file([](int fd) { return ::flock(fd, 64); }); }},
    {"lockf", "a lock", [] { return locked_file([](int fd) { return ::lockf(fd, F_LOCK, 0); }); }},
    {"lockf", "an invalid command", [] { return locked_file([](int fd) { return ::lockf(fd, 99, 0); }); }},
    // --- files
    {"open", "no such file", [] { return measure([] { return ::open("/no/such/file", O_RDONLY); }); }},
    {"open", "a bad address",
     [] { return measure([] { return ::open(static_cast<const char*>(bad_address()), O_RDONLY); }); }},
    {"open", "a mode",
     [] {
       return measure([] {
         const int fd = ::open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0640);
         struct stat s{};
         ::fstat(fd, &s);
         ::close(fd);
         return long(s.st_mode & 0777);
       });
     }},
    {"openat", "no such file", [] { return measure([] { return ::openat(AT_FDCWD, "no/such/file", O_RDONLY); }); }},
    {"openat", "a closed folder", [] { return measure([] { return ::openat(closed_number, "x", O_RDONLY); }); }},
    {"creat", "no such folder", [] { return measure([] { return ::creat("/no/such/file", 0600); }); }},
    {"fsync", "a pipe",
     [] {
       two_ends e(pipe_ends);
       return measure([&] { return ::fsync(e.in()); });
     }},
    {"fdatasync", "a closed number", [] { return measure([] { return ::fdatasync(closed_number); }); }},
    {"syncfs", "a closed number", [] { return measure([] { return ::syncfs(closed_number); }); }},
};

}  // namespace

std::span<const row> descriptor_rows() { return rows; }

}  // namespace hooked_tests
