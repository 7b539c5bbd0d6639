// A mutex that is locked for the length of a block.
#pragma once
#include <hocket/base/platform/config.hpp>
#include <mutex>

namespace hocket::inline HOCKET_ABI {

template <class Mutex>
class [[nodiscard]] locked {
 public:
  explicit locked(Mutex& mutex) noexcept : mutex_(mutex) { mutex_.lock(); }
  locked(Mutex& mutex, std::adopt_lock_t) noexcept : mutex_(mutex) {}  // which the caller has locked
  ~locked() { mutex_.unlock(); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace hocket::inline HOCKET_ABI
