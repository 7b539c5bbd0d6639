// The waits for the end of a managed coroutine, and of all work of a manager.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/coro/outcome.hpp>
#include <hocket/manager/detail/manager_ptr.hpp>
#include <hocket/manager/task_id.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A wait holds a reference to manager_core until it is over: the manager may end as soon as it has notified its
// waiters, and a concurrent cancel of such a wait uses the core a little later.
class managed_wait {
 public:
  void resumed() noexcept {
    if (std::exchange(held_, false)) release(*core_);
  }

 protected:
  explicit managed_wait(manager_core& core) noexcept : core_(&core) {}
  void hold() noexcept {
    retain(*core_);
    held_ = true;
  }
  manager_core* core_;

 private:
  op_flag held_;
};

class managed_end : public managed_wait {
 public:
  using value_type = outcome_kind;
  managed_end(manager_core& core, task_id id) noexcept : managed_wait(core), id_(id) {}
  static constexpr bool try_now() noexcept { return false; }
  void begin(suspension& wait, waiter& entry) noexcept;
  result<outcome_kind> take() noexcept {
    if (kind_ == outcome_kind::none) return failure(error_);
    return kind_;
  }

 private:
  task_id id_;
  std::errc error_ = std::errc::no_such_process;  // also if the coroutine could not be started
  outcome_kind kind_ = outcome_kind::none;
  [[maybe_unused]] std::uint8_t no_padding_[3] = {};
};

class managed_join : public managed_wait {
 public:
  using value_type = void;
  explicit managed_join(manager_core& core) noexcept : managed_wait(core) {}
  bool try_now() noexcept;
  void begin(suspension& wait, waiter& entry) noexcept;
  result<void> take() noexcept {
    if (deadlock_) return failure(std::errc::resource_deadlock_would_occur);
    return {};
  }

 private:
  op_flag deadlock_;
};

}}}  // namespace hocket::detail
