// Under `using namespace hocket` the names of C and POSIX mean what they meant. The one that hocket shares with them,
// select, is called both ways.
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
// The names of hocket come last.
#include <hocket/primitive.hpp>
#include <hocket/stackless.hpp>

#include <doctest/doctest.h>

using namespace hocket;

TEST_CASE("wait() and clock() of the system are not ambiguous") {
  int status = 0;
  errno = 0;
  CHECK(wait(&status) == -1);
  CHECK(errno == ECHILD);
  CHECK(clock() != static_cast<clock_t>(-1));
}

TEST_CASE("select() of the system and that of hocket are told apart by what they are given") {
  timeval none{};
  CHECK(select(0, nullptr, nullptr, nullptr, &none) == 0);
  fd_set set;
  FD_ZERO(&set);
  CHECK(select(0, &set, nullptr, nullptr, &none) == 0);

  event ready;
  ready.set();
  auto first = sync_wait([](event& e) -> task<std::size_t> { co_return (co_await select(e.wait()))->index(); }(ready));
  CHECK(first == 0);
}
