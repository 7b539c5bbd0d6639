// Each time that a call takes ends its wait neither early nor late: by a clock of the test, in each unit.
#include <hocket/runtime/descriptor_parker.hpp>

#include "connections.hpp"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <threads.h>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto stream_ends = two_ends::kind::stream;

std::vector<char> bytes(1 << 20);

// The descriptors of a call: `in` has nothing to read, `out` no room, `listener` no connection, `full` takes none.
struct waiting_ends {
  waiting_ends() {
    while (::send(ends.out(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
    for (const int fd : {ends.out(), listener.fd(), connecting}) {
      const timeval receive{2, 500'000}, send{3, 250'000};
      REQUIRE(::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &receive, sizeof receive) == 0);
      REQUIRE(::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &send, sizeof send) == 0);
    }
    epoll_event event{};
    event.events = EPOLLIN;
    REQUIRE(::epoll_ctl(epoll, EPOLL_CTL_ADD, ends.out(), &event) == 0);
    REQUIRE(::sem_init(&semaphore, 0, 0) == 0);
  }
  waiting_ends(const waiting_ends&) = delete;
  waiting_ends& operator=(const waiting_ends&) = delete;
  ~waiting_ends() {
    ::sem_destroy(&semaphore);
    ::close(epoll);
    ::close(connecting);
  }
  int fd() const { return ends.out(); }

  two_ends ends{stream_ends};
  local_listener listener;
  full_listener full;
  const int connecting = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  sem_t semaphore{};
};

struct timed_call {
  const char* name;
  duration time;
  long (*call)(waiting_ends& at);
  long result;
  int error = 0;  // of a result of -1
};

constexpr duration receive_limit = 2500ms, send_limit = 3250ms;

timespec from_now(clockid_t clock, long seconds, long nanoseconds) {
  timespec time{};
  REQUIRE(::clock_gettime(clock, &time) == 0);
  time.tv_nsec += nanoseconds;
  time.tv_sec += seconds + time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

iovec part() { return {bytes.data(), bytes.size()}; }
msghdr message_of(iovec& parts) {
  msghdr message{};
  message.msg_iov = &parts;
  message.msg_iovlen = 1;
  return message;
}

long receive_messages(int fd) {
  iovec whole = part();
  mmsghdr all{};
  all.msg_hdr = message_of(whole);
  return ::recvmmsg(fd, &all, 1, 0, nullptr);
}
long send_messages(int fd) {
  iovec whole = part();
  mmsghdr all{};
  all.msg_hdr = message_of(whole);
  return ::sendmmsg(fd, &all, 1, 0);
}
long receive_message(int fd) {
  iovec whole = part();
  msghdr message = message_of(whole);
  return ::recvmsg(fd, &message, 0);
}
long send_message(int fd) {
  iovec whole = part();
  msghdr message = message_of(whole);
  return ::sendmsg(fd, &message, 0);
}
long wait_for_input(int fd, timeval* time) {
  fd_set in;
  FD_ZERO(&in);
  FD_SET(fd, &in);
  return ::select(fd + 1, &in, nullptr, nullptr, time);
}
long wait_for_input(int fd, const timespec* time) {
  fd_set in;
  FD_ZERO(&in);
  FD_SET(fd, &in);
  return ::pselect(fd + 1, &in, nullptr, nullptr, time, nullptr);
}
constexpr timespec some_time{1, 700'000'000};

const timed_call calls[] = {
    {"recv", receive_limit, [](waiting_ends& at) -> long { return ::recv(at.fd(), bytes.data(), 1, 0); }, -1, EAGAIN},
    {"recvfrom", receive_limit,
     [](waiting_ends& at) -> long { return ::recvfrom(at.fd(), bytes.data(), 1, 0, nullptr, nullptr); }, -1, EAGAIN},
    {"recvmsg", receive_limit, [](waiting_ends& at) { return receive_message(at.fd()); }, -1, EAGAIN},
    {"recvmmsg", receive_limit, [](waiting_ends& at) { return receive_messages(at.fd()); }, -1, EAGAIN},
    {"read", receive_limit, [](waiting_ends& at) -> long { return ::read(at.fd(), bytes.data(), 1); }, -1, EAGAIN},
    {"readv", receive_limit,
     [](waiting_ends& at) -> long {
       const iovec whole = part();
       return ::readv(at.fd(), &whole, 1);
     },
     -1, EAGAIN},
    {"accept", receive_limit, [](waiting_ends& at) -> long { return ::accept(at.listener.fd(), nullptr, nullptr); }, -1,
     EAGAIN},
    {"accept4", receive_limit,
     [](waiting_ends& at) -> long { return ::accept4(at.listener.fd(), nullptr, nullptr, 0); }, -1, EAGAIN},
    {"send", send_limit, [](waiting_ends& at) -> long { return ::send(at.fd(), bytes.data(), bytes.size(), 0); }, -1,
     EAGAIN},
    {"sendto", send_limit,
     [](waiting_ends& at) -> long { return ::sendto(at.fd(), bytes.data(), bytes.size(), 0, nullptr, 0); }, -1, EAGAIN},
    {"sendmsg", send_limit, [](waiting_ends& at) { return send_message(at.fd()); }, -1, EAGAIN},
    {"sendmmsg", send_limit, [](waiting_ends& at) { return send_messages(at.fd()); }, -1, EAGAIN},
    {"write", send_limit, [](waiting_ends& at) -> long { return ::write(at.fd(), bytes.data(), bytes.size()); }, -1,
     EAGAIN},
    {"writev", send_limit,
     [](waiting_ends& at) -> long {
       const iovec whole = part();
       return ::writev(at.fd(), &whole, 1);
     },
     -1, EAGAIN},
    {"connect", send_limit,
     [](waiting_ends& at) -> long { return ::connect(at.connecting, at.full.address(), local_listener::size); }, -1,
     EINPROGRESS},
    {"poll", 1700ms,
     [](waiting_ends& at) -> long {
       pollfd pfd{at.fd(), POLLIN, 0};
       return ::poll(&pfd, 1, 1700);
     },
     0},
    {"ppoll", 1700ms,
     [](waiting_ends& at) -> long {
       pollfd pfd{at.fd(), POLLIN, 0};
       return ::ppoll(&pfd, 1, &some_time, nullptr);
     },
     0},
    {"select", 1700ms,
     [](waiting_ends& at) {
       timeval time{1, 700'000};
       const long ready = wait_for_input(at.fd(), &time);
       CHECK(time.tv_sec == 0);
       CHECK(time.tv_usec == 0);
       return ready;
     },
     0},
    {"pselect", 1700ms, [](waiting_ends& at) { return wait_for_input(at.fd(), &some_time); }, 0},
    {"epoll_wait", 1700ms,
     [](waiting_ends& at) -> long {
       epoll_event event{};
       return ::epoll_wait(at.epoll, &event, 1, 1700);
     },
     0},
    {"epoll_pwait", 1700ms,
     [](waiting_ends& at) -> long {
       epoll_event event{};
       return ::epoll_pwait(at.epoll, &event, 1, 1700, nullptr);
     },
     0},
    {"epoll_pwait2", 1700ms,
     [](waiting_ends& at) -> long {
       epoll_event event{};
       return ::epoll_pwait2(at.epoll, &event, 1, &some_time, nullptr);
     },
     0},
    {"sleep", 2s, [](waiting_ends&) -> long { return ::sleep(2); }, 0},
    {"usleep", 1500ms, [](waiting_ends&) -> long { return ::usleep(1'500'000); }, 0},
    {"nanosleep", 1700ms, [](waiting_ends&) -> long { return ::nanosleep(&some_time, nullptr); }, 0},
    {"thrd_sleep", 1700ms, [](waiting_ends&) -> long { return ::thrd_sleep(&some_time, nullptr); }, 0},
    {"clock_nanosleep", 1700ms,
     [](waiting_ends&) -> long { return ::clock_nanosleep(CLOCK_MONOTONIC, 0, &some_time, nullptr); }, 0},
    {"clock_nanosleep until", 1000s,
     [](waiting_ends&) -> long {
       const timespec until = from_now(CLOCK_REALTIME, 1000, 0);
       return ::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr);
     },
     0},
    {"sem_timedwait", 1000s,
     [](waiting_ends& at) -> long {
       const timespec until = from_now(CLOCK_REALTIME, 1000, 0);
       return ::sem_timedwait(&at.semaphore, &until);
     },
     -1, ETIMEDOUT},
    {"sem_clockwait", 1000s,
     [](waiting_ends& at) -> long {
       const timespec until = from_now(CLOCK_MONOTONIC, 1000, 0);
       return ::sem_clockwait(&at.semaphore, CLOCK_MONOTONIC, &until);
     },
     -1, ETIMEDOUT},
};

// A turn of the loop, which reads the clock, resumes up to some hundred coroutines.
void pass_turns() {
  for (int i = 0; i < 2000; ++i) await(yield());
}

// The call that sets `over` waits at 0.9 of its time, and not at 1.1 of it.
void expect_time(duration time, const bool& over, manual_clock& clock) {
  pass_turns();
  clock.advance(time / 10 * 9);
  pass_turns();
  CHECK_FALSE(over);
  clock.advance(time / 5);
  pass_turns();
  CHECK(over);
  clock.advance(std::chrono::hours(24 * 365));  // if the time was too long, the test ends nevertheless
}

}  // namespace

TEST_CASE("each time of a call is the time of its wait: SO_RCVTIMEO, SO_SNDTIMEO, of polls, sleeps, semaphores") {
  for (const timed_call& each : calls) {
    CAPTURE(std::string(each.name));
    waiting_ends ends;
    manual_clock clock;
    bool over = false;
    descriptor_parker parker;
    loop lp({.clock = &clock, .parker = &parker});
    spawn(lp, hook::hooked([&] {
            errno = 0;
            CHECK(each.call(ends) == each.result);
            if (each.result == -1) CHECK(errno == each.error);
            over = true;
          }));
    spawn(lp, [&] { expect_time(each.time, over, clock); });
    lp.run();
    CHECK(over);
  }
}

TEST_CASE("a sleep that is ended reports the time that is left") {
  struct sleep_call {
    const char* name;
    int (*call)(const timespec& time, timespec* remaining);
    int result;
  };
  static constexpr sleep_call sleeps[] = {
      {"nanosleep", [](const timespec& time, timespec* rest) { return ::nanosleep(&time, rest); }, -1},
      {"clock_nanosleep",
       [](const timespec& time, timespec* rest) { return ::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, rest); },
       ECANCELED},
      {"thrd_sleep", [](const timespec& time, timespec* rest) { return ::thrd_sleep(&time, rest); }, -2},
      {"sleep",
       [](const timespec& time, timespec* rest) {
         *rest = {static_cast<time_t>(::sleep(static_cast<unsigned>(time.tv_sec))), 500'000'000};
         return rest->tv_sec == 71 ? -1 : 0;
       },
       -1},
  };
  for (const sleep_call& each : sleeps) {
    CAPTURE(std::string(each.name));
    manual_clock clock;
    descriptor_parker parker;
    loop lp({.clock = &clock, .parker = &parker});
    timespec remaining{};
    auto sleeps_long = spawn(lp, hook::hooked([&] { CHECK(each.call({100, 0}, &remaining) == each.result); }));
    spawn(lp, [&] {
      pass_turns();
      clock.advance(29'500ms);
      sleeps_long.cancel();
    });
    lp.run();
    CHECK(remaining.tv_sec == (std::string_view(each.name) == "sleep" ? 71 : 70));
    CHECK(remaining.tv_nsec == 500'000'000);
  }
}

TEST_CASE("select that is ended reports the time that is left") {
  manual_clock clock;
  descriptor_parker parker;
  loop lp({.clock = &clock, .parker = &parker});
  connection_ends ends;
  timeval time{100, 0};
  auto waits = spawn(lp, hook::hooked([&] { CHECK(wait_for_input(ends.client(), &time) == 1); }));
  spawn(lp, [&] {
    pass_turns();
    clock.advance(29'500ms);
    waits.cancel();
  });
  lp.run();
  CHECK(time.tv_sec == 70);
  CHECK(time.tv_usec == 500'000);
}
