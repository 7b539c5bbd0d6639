// Operations on an executor whose driver slot is closed. A worker closes its slot when it ends.
#include <hocket/core/executor.hpp>
#include <hocket/core/parker.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/driver.hpp>
#include <hocket/core/thread/seam/inbox.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/poll_fds.hpp>

#include <array>
#include <cstddef>
#include <doctest/doctest.h>
#include <poll.h>
#include <system_error>
#include <utility>

using namespace hocket;

namespace {

class ended_executor final : public executor {
 public:
  ended_executor() { slot_.close(); }
  void post_from_outside(detail::runnable& work) noexcept override { sleeper_.post(work); }
  detail::driver_access drivers() noexcept override { return {&slot_, &sleeper_}; }

  // Resumes the coroutines that are posted now.
  void resume_posted() {
    for (detail::runnable* next = sleeper_.take(); next;) std::exchange(next, next->next)->handle.resume();
  }

 private:
  futex_parker parker_;
  detail::inbox sleeper_{parker_};
  detail::driver_slot slot_{{steady_clock(), true}, "ended", nullptr};
};

}  // namespace

TEST_CASE("an operation on an executor whose driver slot is closed fails with errc::cancelled") {
  auto [reader, writer] = make_pipe().value();
  std::error_code read_error, poll_error;
  bool is_done = false;
  ended_executor home;
  const detail::running_scope running({&home}, detail::this_thread().ctx);
  const auto wait = [&]() -> eager_task<> {
    std::array<std::byte, 1> room;
    const auto count = co_await reader.read_some(room);
    read_error = count.error_or({});
    pollfd expected{reader.native_handle(), POLLIN, 0};
    const auto ready = co_await poll_fds({&expected, 1});
    poll_error = ready.error_or({});
    is_done = true;
  };
  const auto waiting = wait();
  home.resume_posted();
  CHECK(is_done);
  CHECK(read_error == errc::cancelled);
  CHECK(poll_error == errc::cancelled);
}
