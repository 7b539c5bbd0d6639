// model::mutex: a mutex whose waiting the checker understands, so that a deadlock is seen as one. Not recursive; use it
// with std::lock_guard and std::unique_lock.
#pragma once
#include <hocket/model/detail/shadow.hpp>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

class mutex {
  using site = detail::site;

 public:
  explicit mutex(const char* name = nullptr) : shadow_(name) { detail::construct(shadow_); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { detail::retire(shadow_); }

  void lock(site where = site::current()) { detail::lock(shadow_, where); }
  bool try_lock(site where = site::current()) { return detail::try_lock(shadow_, where); }
  void unlock(site where = site::current()) { detail::unlock(shadow_, where); }

 private:
  detail::shadow shadow_;
};

}}}  // namespace hocket::model
