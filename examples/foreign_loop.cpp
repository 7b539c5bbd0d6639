// A program with an event loop of its own, here a bare epoll, gets coroutines on the same thread: hocket's loop
// is one more descriptor in the epoll. The program's handler reads the pipe as before, and passes the bytes to a
// coroutine. The coroutine also has a deadline, and waits for the work of another thread.
#include <hocket/stackless.hpp>

#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <sys/epoll.h>
#include <thread>
#include <unistd.h>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// The program before: descriptors, and a handler for each readable one.
class event_loop {
 public:
  event_loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  event_loop(const event_loop&) = delete;
  ~event_loop() { ::close(epoll_); }

  bool watch(int fd, void (*handler)(void* self), void* self) {
    handlers_[count_] = {handler, self};
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = count_++;
    return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
  }

  // New: calls of the guest before and after the wait, and its turn.
  void run(loop& guest) {
    while (guest.live() != 0) {
      std::array<epoll_event, 8> events;
      const time_point until = guest.begin_sleep();
      const int ready = ::epoll_wait(epoll_, events.data(), events.size(), poll_timeout(until, guest.now()));
      guest.end_sleep();
      for (int i = 0; i < ready; ++i) {
        const auto [handler, self] = handlers_[events[static_cast<std::size_t>(i)].data.u32];
        handler(self);
      }
      guest.poll();
    }
  }

 private:
  struct entry {
    void (*handler)(void* self);
    void* self;
  };
  const int epoll_;
  std::uint32_t count_ = 0;
  std::array<entry, 8> handlers_{};
};

struct request_line {
  int ends[2] = {-1, -1};
  completion<std::string> arrived;

  // The old handler; it called a state machine before.
  static void on_readable(void* self) {
    auto& line = *static_cast<request_line*>(self);
    std::array<char, 64> bytes;
    const auto size = ::read(line.ends[0], bytes.data(), bytes.size());
    if (size > 0) static_cast<void>(line.arrived.complete(std::string(bytes.data(), static_cast<std::size_t>(size))));
  }
};

task<int> serve(request_line& line) {
  auto early = co_await within(1ms, line.arrived.wait());  // no bytes were written yet
  const bool late = !early && early.error() == std::errc::timed_out;

  event computed;
  std::thread elsewhere([&] {
    static_cast<void>(::write(line.ends[1], "question", 8));
    computed.set();  // from another thread: the descriptor wakes epoll
  });
  auto request = co_await line.arrived.wait();
  auto answer = co_await computed.wait();
  elsewhere.join();
  std::printf("%s\n", request ? request->c_str() : "nothing");
  co_return late && answer && request && *request == "question" ? 0 : 1;
}

}  // namespace

int main() {
  event_loop program;
  request_line line;
  if (::pipe(line.ends) != 0) return 1;
  program.watch(line.ends[0], &request_line::on_readable, &line);

  descriptor_parker bell;
  loop guest({.parker = &bell});
  program.watch(bell.descriptor(), [](void*) {}, nullptr);  // it only ends the wait
  auto served = spawn(guest, serve, std::ref(line));
  program.run(guest);
  for (int end : line.ends) ::close(end);
  return sync_wait(served);
}
