// The other floor of the page `net`: an io_uring. One operation accepts all connections, and one per connection reads
// all of its bytes into buffers that the kernel takes from a ring (both "multishot"). The call that waits for
// completions also submits the writes. Each thread has a listener and a ring of its own. udp is not here.
//
// A connection has one write at a time: a number of responses, or the bytes of one buffer, which returns to the ring
// after the write. Bytes that arrive meanwhile are queued. If all buffers are in use, a connection's read ends, and
// begins again when a buffer has been returned.
#include <algorithm>
#include <deque>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "raw_socket.hpp"
#include "ring.hpp"

namespace {

using namespace lab::net;

struct filled {
  unsigned buffer;
  unsigned size;
};

struct connection {
  explicit connection(int number) : fd(number) {}
  int fd;
  bool reads = false, writes = false, ended = false;
  std::size_t owed = 0;                           // responses that are not submitted
  std::string unanswered;                         // the beginning of a request
  std::unique_ptr<std::deque<filled>> unwritten;  // the first is being written
};

enum tag : std::uint64_t { reading, writing };  // in the lowest bit; all zero: accepting

class server {
 public:
  server(mode does, int door)
      : does_(does),
        door_(door),
        buffers_(ring_, does == mode::http   ? request_room
                        : does == mode::echo ? echo_room
                                             : sink_room) {}

  void run() {
    accept();
    for (;;) ring_.turn([this](const io_uring_cqe& done) { complete(done); });
  }

 private:
  void complete(const io_uring_cqe& done) {
    auto* const of = reinterpret_cast<connection*>(done.user_data & ~std::uint64_t{1});
    if (!of) accepted(done);
    else if ((done.user_data & 1) == reading) has_read(*of, done);
    else written(*of, done.res);
  }

  void accept() { ring_.next(IORING_OP_ACCEPT, door_, 0).ioprio = IORING_ACCEPT_MULTISHOT; }

  void accepted(const io_uring_cqe& done) {
    if (done.res >= 0) {
      send_at_once(done.res);
      read(*new connection(done.res));
    } else if (done.res == -EMFILE || done.res == -ENFILE) {
      errno = -done.res;
      fail("accept");
    }
    if (!(done.flags & IORING_CQE_F_MORE)) accept();
  }

  void read(connection& of) {
    io_uring_sqe& entry = ring_.next(IORING_OP_RECV, of.fd, reinterpret_cast<std::uintptr_t>(&of) | reading);
    entry.ioprio = IORING_RECV_MULTISHOT;
    entry.flags = IOSQE_BUFFER_SELECT;
    of.reads = true;
  }

  void has_read(connection& of, const io_uring_cqe& done) {
    of.reads = (done.flags & IORING_CQE_F_MORE) != 0;
    const unsigned buffer = done.flags >> IORING_CQE_BUFFER_SHIFT;
    if (done.res > 0) take(of, {buffer, static_cast<unsigned>(done.res)});
    else if (done.res == -ENOBUFS) starved_.push_back(&of);
    else of.ended = true;
    if (done.res > 0 && !of.reads) read(of);
    forget_if_over(of);
  }

  void take(connection& of, filled bytes) {
    if (does_ == mode::http) answer(of, {buffers_.at(bytes.buffer), bytes.size});
    if (does_ != mode::echo) return give_back(bytes.buffer);
    if (!of.unwritten) of.unwritten = std::make_unique<std::deque<filled>>();
    of.unwritten->push_back(bytes);
    write(of);
  }

  void give_back(unsigned buffer) {
    buffers_.give_back(buffer);
    for (connection* of : std::exchange(starved_, {})) read(*of);
  }

  void answer(connection& of, std::string_view text) {
    const std::string joined =
        of.unanswered.empty() ? std::string() : std::exchange(of.unanswered, {}) + std::string(text);
    if (!joined.empty()) text = joined;
    const requests found = complete_in(text);
    if (found.bytes != text.size()) of.unanswered = text.substr(found.bytes);
    if (of.unanswered.size() >= request_room) shutdown(of.fd, SHUT_RDWR);
    of.owed += found.count;
    write(of);
  }

  void write(connection& of) {
    if (of.writes || of.ended) return;
    if (of.owed) {
      const std::size_t count = std::min(of.owed, request_room / 4);
      of.owed -= count;
      submit_write(of, responses(count));
    } else if (of.unwritten && !of.unwritten->empty()) {
      const filled first = of.unwritten->front();
      submit_write(of, {buffers_.at(first.buffer), first.size});
    }
  }

  // With MSG_WAITALL the kernel continues a write for which there was no space.
  void submit_write(connection& of, std::string_view bytes) {
    io_uring_sqe& entry = ring_.next(IORING_OP_SEND, of.fd, reinterpret_cast<std::uintptr_t>(&of) | writing);
    entry.addr = reinterpret_cast<std::uintptr_t>(bytes.data());
    entry.len = static_cast<unsigned>(bytes.size());
    entry.msg_flags = MSG_NOSIGNAL | MSG_WAITALL;
    of.writes = true;
  }

  void written(connection& of, int result) {
    of.writes = false;
    if (result < 0) shutdown(of.fd, SHUT_RDWR);  // so the read ends, too
    if (does_ == mode::echo) {
      const unsigned buffer = of.unwritten->front().buffer;
      of.unwritten->pop_front();
      give_back(buffer);
    }
    write(of);
    forget_if_over(of);
  }

  void forget_if_over(connection& of) {
    if (!of.ended || of.reads || of.writes) return;
    if (of.unwritten)
      for (const filled& bytes : std::exchange(*of.unwritten, {})) give_back(bytes.buffer);
    close(of.fd);
    delete &of;
  }

  const mode does_;
  const int door_;
  ring ring_;
  buffer_ring buffers_;
  std::vector<connection*> starved_;
};

}  // namespace

int main(int argc, char** argv) {
  const orders told = parse(argc, argv);
  if (told.does == mode::udp) return 1;
  if (!ring::is_allowed()) {
    std::printf("skip the kernel refuses an io_uring: %s\n", std::strerror(errno));
    return 0;
  }
  std::vector<int> doors;
  for (std::size_t i = 0; i < told.workers; ++i) doors.push_back(bound_socket(SOCK_STREAM, i ? port_of(doors[0]) : 0));
  std::vector<std::thread> threads;
  for (const int door : doors) threads.emplace_back([=] { server(told.does, door).run(); });
  ready(port_of(doors[0]));
  for (auto& thread : threads) thread.join();
}
