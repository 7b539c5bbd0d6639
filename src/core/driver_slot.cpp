#include <hocket/base/detail/forks.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/core/detail/current.hpp>
#include <hocket/core/detail/driver_slot.hpp>

#include <array>
#include <cstdio>
#include <utility>

namespace hocket::inline HOCKET_ABI::detail {

result<driver*> driver_slot::get(driver_kind& kind, inbox& sleeper) noexcept {
  if (kind_ == &kind) return driver_.get();
  if (closed_) return failure(std::errc::operation_canceled);
  if (const char* why = why_not(kind)) return refuse(kind, why);
  if (const std::error_code error = make(kind, sleeper)) return failure(error);
  return driver_.get();
}

// Null: the owner can have such a driver.
const char* driver_slot::why_not(const driver_kind& kind) const noexcept {
  if (driver_) return "it has one of another kind, and sleeps in one place: use one kind on each loop or thread";
  if (kind.is_bound_to_a_thread() && !owner_.stays)
    return "such a driver belongs to one thread, and a loop may change threads: use it on a runtime";
  if (!bed_ && !kind.follows(owner_.time))
    return "such a driver does not sleep by its clock: give the loop no clock, or a driver that follows it";
  return nullptr;
}

result<driver*> driver_slot::refuse(const driver_kind& kind, const char* why) const noexcept {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "\"%s\" cannot have a driver of the kind \"%s\": %s", name_, kind.name(),
                why);
  notice(text.data());
  return failure(std::errc::not_supported);
}

std::error_code driver_slot::make(driver_kind& kind, inbox& sleeper) noexcept {
  result<std::unique_ptr<driver>> made = kind.make(owner_);
  if (!made) return made.error();
  expects(*made != nullptr, "a kind of driver made none", "return one, or an error", kind.name());
  if (bed_) {
    if (const std::error_code error = bed_->watch((*made)->descriptor())) return error;
  } else {
    sleeper.sleep_in(**made);
  }
  driver_ = std::move(*made);
  kind_ = &kind;
  forks_ = forks_so_far();
  poll_soon();
  return {};
}

void driver_slot::close() noexcept {
  closed_ = true;
  clear();
}

bool driver_slot::is_copy_in_child() const noexcept { return driver_ && forks_ != forks_so_far(); }

void driver_slot::expect_no_copy() const noexcept {
  expects(!is_copy_in_child(), "a loop with a driver was run in a child of the process that made the driver",
          "fork before the loop waits for I/O, or exec in the child", name_);
}

void driver_slot::leave_to_parent() noexcept {
  if (!is_copy_in_child()) return;
  static_cast<void>(driver_.release());
  kind_ = nullptr;
}

void driver_slot::clear() noexcept {
  leave_to_parent();
  kind_ = nullptr;
  if (!driver_) return;
  if (bed_) bed_->unwatch(driver_->descriptor());
  driver_.reset();
}

result<driver*> driver_here_of(driver_kind& kind) noexcept {
  executor* const here = current_executor();
  const driver_access access = here ? here->drivers() : driver_access{};
  if (!access.slot) return failure(std::errc::not_supported);
  return access.slot->get(kind, *access.sleeper);
}

}  // namespace hocket::inline HOCKET_ABI::detail
