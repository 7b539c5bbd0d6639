// Watches the fds of poll_fds(), for one driver.
//
// The fds belong to other code, which may close them at any time. Some may also belong to a descriptor of hocket. So
// the watch has an epoll of its own, which is one of the descriptors of the driver's epoll. Then an fd may be
// registered in both epolls, and neither registration changes the other.
//
// # Registrations
//
// Each wait arms the registrations of its fds for one event (EPOLLONESHOT). The system then checks the fd, so the watch
// also gets readiness from before the registration. After an event each wait of this fd polls its whole set by poll(2).
// A wait of readiness_operation reads only the event. If no wait is ready, the watch arms the fd again. This happens if
// the event was for another wait, or for an earlier file with this fd.
//
// The watch never removes an fd: the system does so when the owner closes it. If the system has given the fd to another
// file, arm() finds that: EPOLL_CTL_MOD fails, and EPOLL_CTL_ADD follows.
//
// # Lists and locks
//
// A wait has a node in the list of each of its fds, and one in the list of all waits. The mutex guards the lists, and
// the writes to the sets of linked waits. All nodes of a wait are linked, or none: the thread that unlinks them under
// the mutex ends the wait.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <hocket/io/detail/fd_poll.hpp>
#include <hocket/primitive.hpp>
#include <optional>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class fd_watch final : public primitive::wait_source, public list_node {
 public:
  explicit fd_watch(int epoll) noexcept;  // owns the fd `epoll`
  fd_watch(const fd_watch&) = delete;
  fd_watch& operator=(const fd_watch&) = delete;
  ~fd_watch();

  int descriptor() const noexcept { return epoll_; }
  // Links the wait. Returns 0, or an error number; then the wait is not linked.
  int add_wait(poll_operation& operation, primitive::waiter& entry) noexcept;
  // Dispatches the events, after an event of the driver's epoll. On the thread of the driver's owner, or of an
  // assistant.
  void poll() noexcept;
  // End the waits of the fd, or of all_waits: stop() with ECANCELED, wake() with the events that poll(2) finds.
  void stop(int fd) noexcept;
  void wake(int fd) noexcept;
  // False in a forked child: the waits in the copy of the watch belong to the parent.
  bool is_of_this_process() const noexcept;
  // The count of waits, for dumps. A snapshot: other threads may change it at once.
  std::size_t waiting() const noexcept;

  const char* what() const noexcept override { return "fds of poll_fds()"; }
  [[nodiscard]] bool detach(primitive::waiter& entry) noexcept override;
  void pass_on(primitive::waiter&) noexcept override {}

 private:
  struct fd_list {
    polled_fd* first = nullptr;
    bool is_registered = false;  // in the epoll; stale if the owner has closed the fd
  };

  void dispatch(int fd, short events) noexcept;
  std::optional<primitive::grant> take_ready(int fd, short events) noexcept;
  std::optional<primitive::grant> take_first(int fd, int error) noexcept;
  primitive::grant end_wait(polled_fd& node) noexcept;
  int arm(int fd) noexcept;
  bool reserve_lists(const poll_operation& operation) noexcept;
  void link_all(poll_operation& operation, primitive::waiter& entry) noexcept;
  void unlink_all(poll_operation& operation) noexcept;
  bool has_list(int fd) const noexcept { return fd >= all_waits && index_of(fd) < fds_.size(); }
  fd_list& list_of(int fd) noexcept { return fds_[index_of(fd)]; }
  static std::size_t index_of(int fd) noexcept { return static_cast<std::size_t>(fd - all_waits); }

  const int epoll_;
  const std::uint32_t forks_;
  mutable primitive::thread_mutex mutex_;
  std::vector<fd_list> fds_;  // guarded by mutex_
  std::size_t waiting_ = 0;   // guarded by mutex_
};

}}}  // namespace hocket::detail
