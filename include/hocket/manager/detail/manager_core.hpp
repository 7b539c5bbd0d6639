// What the templates of a task manager ask of its inside (src/manager).
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/core/join_handle.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/manager/task_id.hpp>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI {

struct expect_options;
struct task_options;
template <class T>
class managed_handle;

namespace detail {

class manager_core;
struct managed_entry;

void retain(manager_core& core) noexcept;
void release(manager_core& core) noexcept;

// One reference to the inside, which may outlive the manager.
class manager_ptr {
 public:
  manager_ptr() noexcept = default;
  explicit manager_ptr(manager_core& core) noexcept : core_(&core) { retain(core); }
  manager_ptr(manager_ptr&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  manager_ptr& operator=(manager_ptr&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~manager_ptr() {
    if (core_) release(*core_);
  }
  manager_core& operator*() const noexcept { return *core_; }
  manager_core* operator->() const noexcept { return core_; }
  explicit operator bool() const noexcept { return core_ != nullptr; }

 private:
  manager_core* core_ = nullptr;
};

// A spawn on a manager, under way: the place of the coroutine is there before it is. What was refused has no place, and
// is spawned where it is refused again, so that its handle tells it.
class managed_place {
 public:
  managed_place(manager_core& core, const task_options& options);  // throws bad_alloc
  managed_place(const managed_place&) = delete;
  managed_place& operator=(const managed_place&) = delete;
  ~managed_place();  // gives the place back, if nothing was spawned

  task_id id() const noexcept { return id_; }  // once it is admitted
  spawn_target& target() const noexcept { return target_; }
  const spawn_options& options() const noexcept { return options_; }
  [[nodiscard]] bool admit(scheduled& made) noexcept;
  [[HOCKET_ALWAYS_INLINE]] void accept(scheduled& made, std::coroutine_handle<> start) noexcept { made.launch(start); }
  void take_back(scheduled& made) noexcept { made.withdraw(); }
  template <class T>
  managed_handle<T> handle_of(scheduled_result<T>& made) noexcept {
    return managed_handle<T>(join_handle<T>(made), id_);
  }

 private:
  void bind(scheduled& made) noexcept;

  std::error_code refused_;
  managed_entry* entry_;
  task_id id_ = task_id::none;
  spawn_target& target_;
  const spawn_options options_;
};

// How a promised value of one type fails. The address says which type it is.
struct promise_kind {
  void (*fail)(void* promise, std::error_code why) noexcept;
};

// Takes over the promise, unless it throws; one that cannot be kept has failed already, and has no id.
task_id add_promise(manager_core& core, const promise_kind& kind, void* promise, const expect_options& options);
// Null, and why, if there is none under this id.
void* take_promise(manager_core& core, task_id id, const promise_kind& kind, std::error_code& why) noexcept;
// By its receiver, who does not want it any more.
void* drop_promise(manager_core& core, task_id id) noexcept;

}  // namespace detail

}}  // namespace hocket
