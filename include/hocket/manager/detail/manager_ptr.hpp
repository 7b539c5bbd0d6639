// manager_ptr: one reference to the inside of a task manager (src/manager/manager_core.hpp).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class manager_core;

void retain(manager_core& core) noexcept;
void release(manager_core& core) noexcept;

// The inside may outlive the manager.
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

}}}  // namespace hocket::detail
