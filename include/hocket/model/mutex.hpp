// model::mutex: a mutex whose waiting the checker understands, so that a deadlock is seen as one. Not recursive; use it
// with std::lock_guard and std::unique_lock.
#pragma once
#include <hocket/model/detail/cell.hpp>

namespace hocket::inline HOCKET_HOST_ABI::model {

class mutex {
  using place = detail::place;

 public:
  explicit mutex(const char* name = nullptr) : cell_(name) { detail::construct(cell_); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { detail::retire(cell_); }

  void lock(place where = place::current()) { detail::lock(cell_, where); }
  bool try_lock(place where = place::current()) { return detail::try_lock(cell_, where); }
  void unlock(place where = place::current()) { detail::unlock(cell_, where); }

 private:
  detail::cell cell_;
};

}  // namespace hocket::inline HOCKET_HOST_ABI::model
