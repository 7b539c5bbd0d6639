#include "io/child.hpp"

#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/never_destroyed.hpp>
#include <hocket/base/seam/own_fds.hpp>
#include <hocket/io/seam/descriptor_table.hpp>

#include "io/epoll_driver.hpp"

#include <cerrno>
#include <csignal>
#include <memory>
#include <new>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

namespace {

constexpr long pidfd_send_signal_call = 424, pidfd_open_call = 434;  // on all architectures
constexpr auto by_pidfd = static_cast<idtype_t>(3);                  // P_PIDFD: not in every C library
constexpr unsigned whole_group = 1u << 2;                            // PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9

int open_pidfd(pid_t of) noexcept {
  const int fd = own_fd(static_cast<int>(::syscall(pidfd_open_call, of, 0)));
  return fd < 0 ? -errno : fd;
}

int send_signal(int pidfd, int signal, unsigned flags = 0) noexcept {
  return ::syscall(pidfd_send_signal_call, pidfd, signal, nullptr, flags) == 0 ? 0 : errno;
}

// waitid(2), repeated after a signal of this process. An error number, or 0.
int wait_for(idtype_t kind, id_t id, siginfo_t& facts, int options) noexcept {
  facts = {};
  int returned = 0;
  do returned = ::waitid(kind, id, &facts, options | WEXITED);
  while (returned != 0 && errno == EINTR);
  return returned == 0 ? 0 : errno;
}

struct child : list_node {
  child(bool kill, bool group) noexcept : kill_at_close(kill), has_group(group) {}

  // Constant.
  const bool kill_at_close;
  const bool has_group;                        // of its own, by its id
  const std::uint32_t forks = forks_so_far();  // of the parent
  // Stored by the kernel, before the child runs.
  primitive::atomic<pid_t> id{-1};
  // Guarded by children_mutex, until it is there. -1: the child is being started.
  int pidfd = -1;

  primitive::thread_mutex mutex;
  // Guarded by the mutex.
  bool reaped = false;
  std::size_t status = 0;  // process.hpp: wait_for_child
};

// ORDER: relaxed, pairs with nothing: the child was there before anything that asks for it.
pid_t id_of(const child& record) noexcept { return record.id.load(std::memory_order_relaxed); }

// An error number; 0: it is reaped, or runs. Under its mutex.
int reap_if_ended(child& record) noexcept {
  if (record.reaped) return 0;
  siginfo_t facts;
  if (const int error = wait_for(by_pidfd, static_cast<id_t>(record.pidfd), facts, WNOHANG)) return error;
  if (facts.si_pid == 0) return 0;
  const auto number = static_cast<std::size_t>(facts.si_status);
  record.status = facts.si_code == CLD_EXITED ? 2 * number : 2 * number + 1;
  record.reaped = true;
  return 0;
}

// It is reaped, or its end is lost.
bool is_over(child& record) noexcept {
  const locked guard(record.mutex);
  return reap_if_ended(record) != 0 || record.reaped;
}

// --- all children

constinit primitive::thread_mutex children_mutex;
struct child_lists {
  list<child> owned;     // by a descriptor, or still being started
  list<child> detached;  // the descriptor is closed
};
child_lists& children_of_process() noexcept {  // guarded by the mutex
  static never_destroyed<child_lists> all;
  return *all;
}

void add(child& record) noexcept {
  const locked guard(children_mutex);
  children_of_process().owned.push_back(record);
}

void remove(child& record) noexcept {
  const locked guard(children_mutex);
  list<child>::erase(record);
}

// False: it is over, and in no list any more.
bool detach(child& record) noexcept {
  const locked guard(children_mutex);
  list<child>::erase(record);
  if (is_over(record)) return false;
  children_of_process().detached.push_back(record);
  return true;
}

void forget(std::unique_ptr<child> ended) noexcept { ::close(ended->pidfd); }

// By kill(2), while the id is still its own.
int signal_group_by_id(child& record, int signal) noexcept {
  if (record.forks != forks_so_far()) return ECHILD;
  const locked guard(record.mutex);
  if (record.reaped) return ESRCH;
  return ::kill(-id_of(record), signal) == 0 ? 0 : errno;
}

int signal_group(child& record, int signal) noexcept {
  if (!record.has_group) return EINVAL;
  const int error = send_signal(record.pidfd, signal, whole_group);
  return error == EINVAL ? signal_group_by_id(record, signal) : error;
}

class children final : public backend {
 public:
  const char* name() const noexcept override { return "children"; }
  constexpr children() noexcept = default;
  static children& instance() noexcept {
    static constinit children backend_of_children;
    return backend_of_children;
  }

  call_end carry_out(open_descriptor& at, transfer& operation) noexcept override {
    child& record = *static_cast<child*>(at.data());
    const locked guard(record.mutex);
    if (const int error = reap_if_ended(record)) return operation.fail(error), call_end::done;
    if (!record.reaped) return call_end::blocks;
    operation.done = record.status;
    operation.ended = true;
    return call_end::done;
  }

  result<io_driver*> driver_here() noexcept override { return epoll_driver::here(); }

  void close(open_descriptor& closed) noexcept override {
    child& record = *static_cast<child*>(closed.data());
    const bool is_ours = record.forks == forks_so_far();
    if (is_ours && record.kill_at_close) kill(record);
    if (is_ours && detach(record)) return reap_detached();
    if (!is_ours) remove(record);
    forget(std::unique_ptr<child>(&record));
  }

 private:
  static void kill(child& record) noexcept {
    if (record.has_group) signal_group(record, SIGKILL);
    else send_signal(record.pidfd, SIGKILL);
  }
};

// --- a start

// The child is not reaped, so the id is still its own.
failure kill_and_reap(child& record, int pidfd, int error) noexcept {
  siginfo_t facts;
  ::kill(id_of(record), SIGKILL);
  wait_for(P_PID, static_cast<id_t>(id_of(record)), facts, 0);
  if (pidfd >= 0) ::close(pidfd);
  remove(record);
  return failure_of_transfer(error);
}

result<started_child> adopt(std::unique_ptr<child> record) noexcept {
  const int pidfd = open_pidfd(id_of(*record));
  if (pidfd < 0) return kill_and_reap(*record, -1, -pidfd);
  open_descriptor* const at = descriptor_table::take(children::instance(), pidfd, descriptor_kind::other, record.get());
  if (!at) return kill_and_reap(*record, pidfd, ENOMEM);
  const locked guard(children_mutex);
  record->pidfd = pidfd;
  const pid_t id = id_of(*record.release());
  return started_child{descriptor_access::make(*at), id};
}

// --- orphans

enum class party : std::uint8_t { another, starting, ours };

// False: it was reaped before, and the id is another's now.
bool reap_now(child& record) noexcept {
  const locked guard(record.mutex);
  return !record.reaped && reap_if_ended(record) == 0 && record.reaped;
}

// Reaps the child with this id, if it is ours. A detached one stays in its list.
party reap_ours(pid_t id) noexcept {
  const locked guard(children_mutex);
  child_lists& all = children_of_process();
  for (list<child>* const children : {&all.owned, &all.detached}) {
    for (child& record : *children) {
      if (id_of(record) != id || record.forks != forks_so_far()) continue;
      if (record.pidfd < 0) return party::starting;
      if (reap_now(record)) return party::ours;
    }
  }
  return party::another;
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

result<started_child> start_child_process(const child_plan& plan, bool kill_at_close) noexcept {
  std::unique_ptr<child> record(new (std::nothrow) child(kill_at_close, plan.new_group || plan.new_session));
  if (!record) return failure_of_transfer(ENOMEM);
  add(*record);
  if (const int error = start_child(plan, record->id)) return remove(*record), failure_of_transfer(error);
  return adopt(std::move(record));
}

int signal_child(const descriptor& owner, int signal) noexcept {
  const used_fd fd(owner);
  return *fd < 0 ? EBADF : send_signal(*fd, signal);
}

int signal_group_of_child(const descriptor& owner, int signal) noexcept {
  const used_fd fd(owner);
  return *fd < 0 ? EBADF : signal_group(*static_cast<child*>(fd.record().data()), signal);
}

int signal_child_and_group(const descriptor& owner, int signal) noexcept {
  const used_fd fd(owner);
  if (*fd < 0) return EBADF;
  child& record = *static_cast<child*>(fd.record().data());
  return record.has_group ? signal_group(record, signal) : send_signal(*fd, signal);
}

void reap_detached() noexcept {
  list<child> ended;
  {
    const locked guard(children_mutex);
    list<child>& all = children_of_process().detached;
    for (auto at = all.begin(); at != all.end();) {
      child& record = *at;
      ++at;
      if (!is_over(record)) continue;
      list<child>::erase(record);
      ended.push_back(record);
    }
  }
  while (!ended.empty()) forget(std::unique_ptr<child>(&ended.pop_front()));
}

// WNOWAIT shows the first child that has ended, and leaves it.
std::size_t reap_orphans() noexcept {
  std::size_t count = 0;
  siginfo_t facts;
  while (wait_for(P_ALL, 0, facts, WNOHANG | WNOWAIT) == 0 && facts.si_pid != 0) {
    const pid_t id = facts.si_pid;
    const party found = reap_ours(id);
    if (found == party::starting) std::this_thread::yield();
    if (found == party::another && wait_for(P_PID, static_cast<id_t>(id), facts, WNOHANG) == 0) ++count;
  }
  return count;
}

}}}  // namespace hocket::detail
