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

int open_pidfd(pid_t id) noexcept {
  const int fd = own_fd(static_cast<int>(::syscall(pidfd_open_call, id, 0)));
  return fd < 0 ? -errno : fd;
}

int send_signal(int pidfd, int signal, unsigned flags = 0) noexcept {
  return ::syscall(pidfd_send_signal_call, pidfd, signal, nullptr, flags) == 0 ? 0 : errno;
}

// Calls waitid(2), again after EINTR. Returns an error number, or 0.
int wait_for(idtype_t kind, id_t id, siginfo_t& info, int options) noexcept {
  info = {};
  int rc = 0;
  do rc = ::waitid(kind, id, &info, options | WEXITED);
  while (rc != 0 && errno == EINTR);
  return rc == 0 ? 0 : errno;
}

struct child : list_node {
  child(bool kill, bool group) noexcept : kill_at_close(kill), has_group(group) {}

  // Constant.
  const bool kill_at_close;
  const bool has_group;                        // a group of its own, with the child's id
  const std::uint32_t forks = forks_so_far();  // of the parent
  // Stored by the kernel, before the child runs.
  primitive::atomic<pid_t> id{-1};
  // Constant after adopt(), which sets it under children_mutex. -1: start() is still running.
  int pidfd = -1;

  primitive::thread_mutex mutex;
  // Guarded by the mutex.
  bool reaped = false;
  std::size_t status = 0;  // encoded as in process.hpp: wait_for_child
};

// ORDER: relaxed, pairs with nothing: callers have the record from a list or a descriptor, later than the store.
pid_t id_of(const child& record) noexcept { return record.id.load(std::memory_order_relaxed); }

// Returns an error number; 0: the child is reaped, or runs. Under the mutex of the record.
int reap_if_ended(child& record) noexcept {
  if (record.reaped) return 0;
  siginfo_t info;
  if (const int error = wait_for(by_pidfd, static_cast<id_t>(record.pidfd), info, WNOHANG)) return error;
  if (info.si_pid == 0) return 0;
  const auto number = static_cast<std::size_t>(info.si_status);
  record.status = info.si_code == CLD_EXITED ? 2 * number : 2 * number + 1;
  record.reaped = true;
  return 0;
}

// Whether the child is reaped, or its status is lost. Reaps an ended child.
bool has_ended(child& record) noexcept {
  const locked guard(record.mutex);
  return reap_if_ended(record) != 0 || record.reaped;
}

// --- all children

constinit primitive::thread_mutex children_mutex;
struct child_lists {
  list<child> owned;     // by a descriptor, or by start()
  list<child> detached;  // the descriptor is closed
};
child_lists& children_of_process() noexcept {  // guarded by the mutex
  static never_destroyed<child_lists> lists;
  return *lists;
}

void add(child& record) noexcept {
  const locked guard(children_mutex);
  children_of_process().owned.push_back(record);
}

void remove(child& record) noexcept {
  const locked guard(children_mutex);
  list<child>::erase(record);
}

// False: the child has ended, and is removed from the lists.
bool detach(child& record) noexcept {
  const locked guard(children_mutex);
  list<child>::erase(record);
  if (has_ended(record)) return false;
  children_of_process().detached.push_back(record);
  return true;
}

void destroy(std::unique_ptr<child> record) noexcept { ::close(record->pidfd); }

// Sends the signal by kill(2), if the child is not reaped, so that its id is not reused.
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

  call_end carry_out(open_descriptor& opened, transfer& operation) noexcept override {
    child& record = *static_cast<child*>(opened.data());
    const locked guard(record.mutex);
    if (const int error = reap_if_ended(record)) {
      operation.fail(error);
      return call_end::done;
    }
    if (!record.reaped) return call_end::blocks;
    operation.done = record.status;
    operation.ended = true;
    return call_end::done;
  }

  result<io_driver*> driver_here() noexcept override { return epoll_driver::driver_here(); }

  void close(open_descriptor& closed) noexcept override {
    child& record = *static_cast<child*>(closed.data());
    const bool is_ours = record.forks == forks_so_far();
    if (is_ours && record.kill_at_close) kill(record);
    if (is_ours && detach(record)) return reap_detached();
    if (!is_ours) remove(record);
    destroy(std::unique_ptr<child>(&record));
  }

 private:
  static void kill(child& record) noexcept {
    if (record.has_group) signal_group(record, SIGKILL);
    else send_signal(record.pidfd, SIGKILL);
  }
};

// --- start

// The child is not reaped, so the system has not reused its id.
failure kill_and_reap(child& record, int pidfd, int error) noexcept {
  siginfo_t info;
  ::kill(id_of(record), SIGKILL);
  wait_for(P_PID, static_cast<id_t>(id_of(record)), info, 0);
  if (pidfd >= 0) ::close(pidfd);
  remove(record);
  return failure_of_transfer(error);
}

result<started_child> adopt(std::unique_ptr<child> record) noexcept {
  const int pidfd = open_pidfd(id_of(*record));
  if (pidfd < 0) return kill_and_reap(*record, -1, -pidfd);
  open_descriptor* const opened =
      descriptor_table::take(children::instance(), pidfd, descriptor_kind::other, record.get());
  if (!opened) return kill_and_reap(*record, pidfd, ENOMEM);
  const locked guard(children_mutex);
  record->pidfd = pidfd;
  const pid_t id = id_of(*record.release());
  return started_child{descriptor_access::make(*opened), id};
}

// --- orphans

// The origin of an ended child.
enum class origin : std::uint8_t { foreign, starting, ours };

// False: the child was reaped before, and the system has reused its id.
bool reap_now(child& record) noexcept {
  const locked guard(record.mutex);
  return !record.reaped && reap_if_ended(record) == 0 && record.reaped;
}

// Reaps the child with this id, if start() has started it. A detached child stays in its list.
origin reap_ours(pid_t id) noexcept {
  const locked guard(children_mutex);
  child_lists& lists = children_of_process();
  for (list<child>* const children : {&lists.owned, &lists.detached}) {
    for (child& record : *children) {
      if (id_of(record) != id || record.forks != forks_so_far()) continue;
      if (record.pidfd < 0) return origin::starting;
      if (reap_now(record)) return origin::ours;
    }
  }
  return origin::foreign;
}

}  // namespace

bool has_pidfds() noexcept {
  static const bool known = [] {
    const int own = open_pidfd(::getpid());
    if (own == -ENOSYS || own == -EPERM) return false;
    if (own < 0) return true;  // no free fd: start() reports the error
    siginfo_t info{};
    const bool can_wait = ::waitid(by_pidfd, static_cast<id_t>(own), &info, WEXITED | WNOHANG) != 0 && errno == ECHILD;
    ::close(own);
    return can_wait;
  }();
  return known;
}

result<started_child> start_child_process(const child_plan& plan, bool kill_at_close) noexcept {
  std::unique_ptr<child> record(new (std::nothrow) child(kill_at_close, plan.new_group || plan.new_session));
  if (!record) return failure_of_transfer(ENOMEM);
  add(*record);
  if (const int error = start_child(plan, record->id)) {
    remove(*record);
    return failure_of_transfer(error);
  }
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
    list<child>& detached = children_of_process().detached;
    for (auto position = detached.begin(); position != detached.end();) {
      child& record = *position;
      ++position;
      if (!has_ended(record)) continue;
      list<child>::erase(record);
      ended.push_back(record);
    }
  }
  while (!ended.empty()) destroy(std::unique_ptr<child>(&ended.pop_front()));
}

// WNOWAIT returns the first ended child without reaping it.
std::size_t reap_orphans() noexcept {
  std::size_t count = 0;
  siginfo_t info;
  while (wait_for(P_ALL, 0, info, WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
    const pid_t id = info.si_pid;
    const origin child_origin = reap_ours(id);
    if (child_origin == origin::starting) std::this_thread::yield();
    if (child_origin == origin::foreign && wait_for(P_PID, static_cast<id_t>(id), info, WNOHANG) == 0) ++count;
  }
  return count;
}

}}}  // namespace hocket::detail
