#include "io/child.hpp"

#include <hocket/base/detail/forks.hpp>
#include <hocket/base/detail/list.hpp>
#include <hocket/base/detail/mutex.hpp>
#include <hocket/base/detail/never_destroyed.hpp>
#include <hocket/base/detail/own_fds.hpp>
#include <hocket/io/detail/descriptor_table.hpp>

#include "io/epoll_driver.hpp"

#include <cerrno>
#include <csignal>
#include <memory>
#include <new>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

namespace {

constexpr long pidfd_send_signal_call = 424, pidfd_open_call = 434;  // on all architectures
constexpr auto by_pidfd = static_cast<idtype_t>(3);                  // P_PIDFD: not in every C library

int open_pidfd(pid_t of) noexcept {
  const int fd = own_fd(static_cast<int>(::syscall(pidfd_open_call, of, 0)));
  return fd < 0 ? -errno : fd;
}

int send_signal(int pidfd, int signal) noexcept {
  return ::syscall(pidfd_send_signal_call, pidfd, signal, nullptr, 0) == 0 ? 0 : errno;
}

// What belongs to a pidfd: constant, but for the status and the link.
struct child : list_node {
  child(int fd, bool kill) noexcept : pidfd(fd), kill_at_close(kill) {}
  const int pidfd;
  const bool kill_at_close;
  const std::uint32_t forks = forks_so_far();  // of the parent
  bool reaped = false;                         // with the word of the direction taken, or as an orphan
  std::size_t status = 0;                      // process.hpp: wait_for_child
};

// An error number; 0: it is reaped, or runs.
int look_at(child& one) noexcept {
  siginfo_t facts{};
  int returned = 0;
  do returned = ::waitid(by_pidfd, static_cast<id_t>(one.pidfd), &facts, WEXITED | WNOHANG);
  while (returned != 0 && errno == EINTR);
  if (returned != 0) return errno;
  if (facts.si_pid == 0) return 0;
  const auto fd = static_cast<std::size_t>(facts.si_status);
  one.status = facts.si_code == CLD_EXITED ? 2 * fd : 2 * fd + 1;
  one.reaped = true;
  return 0;
}

constinit primitive::thread_mutex orphans_mutex;
list<child>& orphans() noexcept {  // guarded by the mutex
  static never_destroyed<list<child>> all;
  return *all;
}

void forget(std::unique_ptr<child> gone) noexcept { ::close(gone->pidfd); }

class children final : public backend {
 public:
  constexpr children() noexcept = default;
  static children& instance() noexcept {
    static constinit children one;
    return one;
  }

  call_end carry_out(open_descriptor& at, transfer& what) noexcept override {
    child& one = *static_cast<child*>(at.data());
    if (!one.reaped) {
      if (const int error = look_at(one)) return what.fail(error), call_end::done;
      if (!one.reaped) return call_end::blocks;
    }
    what.done = one.status;
    what.ended = true;
    return call_end::done;
  }

  result<io_driver*> driver_here() noexcept override { return epoll_driver::here(); }

  void close(open_descriptor& gone) noexcept override {
    std::unique_ptr<child> one(static_cast<child*>(gone.data()));
    if (one->reaped || one->forks != forks_so_far()) return forget(std::move(one));
    if (one->kill_at_close) send_signal(one->pidfd, SIGKILL);
    {
      const locked guard(orphans_mutex);
      orphans().push_back(*one.release());
    }
    reap_orphans();
  }
};

failure kill_and_reap(pid_t id, int pidfd, int error) noexcept {
  ::kill(id, SIGKILL);  // not reaped: the fd is still its own
  while (::waitpid(id, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (pidfd >= 0) ::close(pidfd);
  return failure_of_transfer(error);
}

}  // namespace

bool has_pidfds() noexcept {
  static const bool known = [] {
    const int own = open_pidfd(::getpid());
    if (own == -ENOSYS || own == -EPERM) return false;
    if (own < 0) return true;  // no descriptors: start() will tell
    siginfo_t facts{};
    const bool waits = ::waitid(by_pidfd, static_cast<id_t>(own), &facts, WEXITED | WNOHANG) != 0 && errno == ECHILD;
    ::close(own);
    return waits;
  }();
  return known;
}

result<descriptor> adopt_child(pid_t id, bool kill_at_close) noexcept {
  const int pidfd = open_pidfd(id);
  if (pidfd < 0) return kill_and_reap(id, -1, -pidfd);
  std::unique_ptr<child> one(new (std::nothrow) child(pidfd, kill_at_close));
  open_descriptor* const record =
      one ? descriptor_table::take(children::instance(), pidfd, descriptor_kind::other, one.get()) : nullptr;
  if (!record) return kill_and_reap(id, pidfd, ENOMEM);
  static_cast<void>(one.release());
  return descriptor_access::make(*record);
}

int signal_child(const descriptor& one, int signal) noexcept {
  const used_fd fd(one);
  return *fd < 0 ? EBADF : send_signal(*fd, signal);
}

void reap_orphans() noexcept {
  list<child> ended;
  {
    const locked guard(orphans_mutex);
    for (auto at = orphans().begin(); at != orphans().end();) {
      child& one = *at;
      ++at;
      if (look_at(one) == 0 && !one.reaped) continue;
      list<child>::erase(one);
      ended.push_back(one);
    }
  }
  while (!ended.empty()) forget(std::unique_ptr<child>(&ended.pop_front()));
}

}}}  // namespace hocket::detail
