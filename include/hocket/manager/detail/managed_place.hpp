// managed_place: a spawn on a task manager, under way.
#pragma once
#include <hocket/core/join_handle.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/manager/task_id.hpp>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI {

struct task_options;
template <class T>
class managed_handle;

namespace detail {

class manager_core;
struct managed_entry;

// The place of the coroutine exists before the coroutine. A refused coroutine has no place. It is spawned on a target
// that refuses it again, so its handle has the error.
class managed_place {
 public:
  managed_place(manager_core& core, const task_options& options);  // throws bad_alloc
  managed_place(const managed_place&) = delete;
  managed_place& operator=(const managed_place&) = delete;
  ~managed_place();  // gives the place back, if nothing was spawned

  task_id id() const noexcept { return id_; }  // once it is admitted
  spawn_target& target() const noexcept { return target_; }
  const spawn_options& options() const noexcept { return options_; }
  [[nodiscard]] bool admit(scheduled& coroutine) noexcept;
  [[HOCKET_ALWAYS_INLINE]] void accept(scheduled& coroutine, std::coroutine_handle<> start) noexcept {
    coroutine.launch(start);
  }
  void take_back(scheduled& coroutine) noexcept { coroutine.withdraw(); }
  template <class T>
  managed_handle<T> handle_of(scheduled_result<T>& coroutine) noexcept {
    return managed_handle<T>(join_handle<T>(coroutine), id_);
  }

 private:
  void bind(scheduled& coroutine) noexcept;

  std::error_code refused_;
  managed_entry* entry_;
  task_id id_ = task_id::none;
  spawn_target& target_;
  const spawn_options options_;
};

}  // namespace detail

}}  // namespace hocket
