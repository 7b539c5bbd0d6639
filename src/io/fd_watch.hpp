// Watches the numbers of poll_fds(), for one driver.
//
// The fds belong to others, who close them as they like and may have adopted some. So they stand in an epoll of
// their own, which is one of the descriptors of the driver's epoll. A number of a descriptor is thus registered twice,
// and neither registration changes the other.
//
// A registration is armed for one event (EPOLLONESHOT) whenever a wait begins: the system looks at the fd then, so
// what became ready before the registration is told, too. After an event each wait of that number looks at its whole
// set by poll(2); a wait for readiness alone (readiness_operation) looks only at the event. If nothing is ready
// (the event was for another wait, or of a file that had the fd before), the fd is armed again.
//
// An fd is never taken out. If its owner closes it, the system does so. What is registered under an fd that was
// used again is found out when it is armed: EPOLL_CTL_MOD fails, and EPOLL_CTL_ADD follows.
//
// Each wait stands in the lists of its fds, and once more in the list of all.
//
// Locks. The mutex guards the lists, and what is written into the sets of waits that are listed. A wait is listed with
// all of its fds, or not at all: whoever takes it out, under the mutex, ends it.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <hocket/io/detail/fd_poll.hpp>
#include <hocket/primitive.hpp>
#include <optional>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class fd_watch final : public primitive::wait_source, public list_node {
 public:
  explicit fd_watch(int epoll) noexcept;  // which it closes
  fd_watch(const fd_watch&) = delete;
  fd_watch& operator=(const fd_watch&) = delete;
  ~fd_watch();

  int descriptor() const noexcept { return epoll_; }
  // 0, or an error number; then it is not listed.
  int enter(poll_operation& one, primitive::waiter& entry) noexcept;
  // The driver's epoll has told that there are events here. Its owner, or an assistant.
  void poll() noexcept;
  void stop(int fd) noexcept;  // or all_waits
  void wake(int fd) noexcept;
  // It was made in this process: what is listed in a copy of it belongs to the parent.
  bool is_of_this_process() const noexcept;
  // For dumps. A guess while threads run.
  std::size_t waiting() const noexcept;

  const char* what() const noexcept override { return "numbers of poll_fds()"; }
  [[nodiscard]] bool detach(primitive::waiter& entry) noexcept override;
  void pass_on(primitive::waiter&) noexcept override {}

 private:
  struct fd_list {
    polled_fd* first = nullptr;
    bool added = false;  // to the epoll, as far as is known
  };

  void tell(int fd, short events) noexcept;
  std::optional<primitive::grant> take_ready(int fd, short events) noexcept;
  std::optional<primitive::grant> take_any(int fd, int error) noexcept;
  primitive::grant take_out(polled_fd& one) noexcept;
  int arm(int fd) noexcept;
  bool make_room(const poll_operation& one) noexcept;
  void link_all(poll_operation& of, primitive::waiter& entry) noexcept;
  void unlink_all(poll_operation& one) noexcept;
  bool has(int fd) const noexcept { return fd >= all_waits && index_of(fd) < fds_.size(); }
  fd_list& at(int fd) noexcept { return fds_[index_of(fd)]; }
  static std::size_t index_of(int fd) noexcept { return static_cast<std::size_t>(fd - all_waits); }

  const int epoll_;
  const std::uint32_t forks_;
  mutable primitive::thread_mutex mutex_;
  std::vector<fd_list> fds_;  // guarded by mutex_
  std::size_t waiting_ = 0;   // guarded by mutex_
};

}}}  // namespace hocket::detail
