#include <hocket/base/error.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/forks.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/driver.hpp>

#include <array>
#include <cstdio>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

found_driver driver_slot::get(driver_kind& kind, inbox& sleeper) noexcept {
  expect_same_process();
  if (kind_ == &kind) return {current(), {}};
  if (closed_) return {nullptr, errc::cancelled};
  if (const char* reason = reason_to_refuse(kind)) return {nullptr, refuse(kind, reason)};
  const std::error_code error = make(kind, sleeper);
  return {current(), error};
}

// Returns null if the owner can have such a driver.
const char* driver_slot::reason_to_refuse(const driver_kind& kind) const noexcept {
  if (current()) return "it has one of another kind, and sleeps in one place: use one kind on each loop or thread";
  if (kind.is_bound_to_a_thread() && !owner_.stays)
    return "such a driver belongs to one thread, and a loop may change threads: use it on a runtime";
  if (!parker_ && !kind.follows(owner_.time))
    return "such a driver does not sleep by its clock: give the loop no clock, or a driver that follows it";
  return nullptr;
}

std::error_code driver_slot::refuse(const driver_kind& kind, const char* reason) const noexcept {
  std::array<char, 256> text{};  // a long name is truncated, the reason is not
  std::snprintf(text.data(), text.size(), "\"%.60s\" cannot have a driver of the kind \"%.40s\": %s", name_,
                kind.name(), reason);
  notice(text.data());
  return std::make_error_code(std::errc::not_supported);
}

std::error_code driver_slot::make(driver_kind& kind, inbox& sleeper) noexcept {
  std::unique_ptr<driver> created;
  if (const std::error_code error = kind.make(owner_, created)) return error;
  expects(created != nullptr, "a kind of driver made none", "return one, or an error", kind.name());
  if (parker_ && !(parker_->is_replaceable() && kind.follows(owner_.time))) {
    const std::error_code error = watch(created->descriptor());
    if (error == std::errc::not_supported) return refuse(kind, "it sleeps in a parker that watches no such descriptor");
    if (error) return error;
  } else {
    sleeper.set_parker(*created);
  }
  kind_ = &kind;
  forks_ = forks_so_far();
  // ORDER: release, pairs with the load in assist(): the driver is whole.
  driver_.store(created.release(), std::memory_order_release);
  poll_soon();
  return {};
}

std::error_code driver_slot::watch(int descriptor) noexcept {
  if (descriptor < 0) return std::make_error_code(std::errc::not_supported);
  return parker_->watch(descriptor);
}

void driver_slot::close() noexcept {
  closed_ = true;
  clear();
}

bool driver_slot::is_copy_in_child() const noexcept { return current() && forks_ != forks_so_far(); }

void driver_slot::expect_no_copy() const noexcept {
  expects(!is_copy_in_child(), "a driver was used in a child of the process that made it",
          "fork before the first wait for I/O, or exec in the child", name_);
}

void driver_slot::leave_to_parent() noexcept {
  if (!is_copy_in_child()) return;
  // ORDER: relaxed, pairs with nothing: in a child there is no other thread.
  driver_.store(nullptr, std::memory_order_relaxed);
  kind_ = nullptr;
  more_ = false;
}

void driver_slot::clear() noexcept {
  leave_to_parent();
  kind_ = nullptr;
  more_ = false;
  const std::unique_ptr<driver> removed(remove());
  if (removed && parker_ && removed->descriptor() >= 0) parker_->unwatch(removed->descriptor());
}

// Waits for an assistant.
driver* driver_slot::remove() noexcept {
  locked guard(assisted_);
  // ORDER: relaxed, pairs with the load in assist(), under the lock.
  return driver_.exchange(nullptr, std::memory_order_relaxed);
}

void driver_slot::poll() noexcept {
  current()->poll();
  more_ = current()->has_more();
  turns_left_ = more_ ? 1 : current()->turns_between_polls();
}

std::size_t driver_slot::waiting() const noexcept { return current() ? current()->waiting() : 0; }
bool driver_slot::has_waits() const noexcept { return current() && current()->has_waits(); }
bool driver_slot::ends_sleep(time_point until) const noexcept { return current() && current()->ends_sleep(until); }

bool driver_slot::assist() noexcept {
  if (!assisted_.try_lock()) return false;
  // ORDER: acquire, pairs with the store in make().
  driver* const assisted = driver_.load(std::memory_order_acquire);
  if (assisted) assisted->assist();
  assisted_.unlock();
  return assisted != nullptr;
}

found_driver driver_here_of(driver_kind& kind) noexcept {
  executor* const current = current_executor();
  const driver_access access = current ? current->drivers() : driver_access{};
  if (!access.slot) return {nullptr, std::make_error_code(std::errc::not_supported)};
  return access.slot->get(kind, *access.sleeper);
}

}}}  // namespace hocket::detail
