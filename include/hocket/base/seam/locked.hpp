// A mutex that is locked for the length of a block.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
// As std::adopt_lock; <mutex> is much to parse.
struct adopt_lock_t {};
inline constexpr adopt_lock_t adopt_lock{};
}  // namespace detail

namespace primitive {

template <class Mutex>
class [[nodiscard]] locked {
 public:
  explicit locked(Mutex& mutex) noexcept : mutex_(mutex) { mutex_.lock(); }
  locked(Mutex& mutex, detail::adopt_lock_t) noexcept : mutex_(mutex) {}  // which the caller has locked
  ~locked() { mutex_.unlock(); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace primitive

}}  // namespace hocket
