// model::var<T>: plain data whose accesses are checked. Two accesses of which one writes must be ordered by happens
// before; the checker reports the pair that is not, in whatever order they happened to run.
//
// Accesses are not points at which another thread may run: in a program without races nobody could tell, and a race is
// found from any schedule that has the same synchronisation.
#pragma once
#include <hocket/model/detail/shadow.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

template <class T>
class var {
  using site = detail::site;

 public:
  var(T value = T{}, const char* name = nullptr) : shadow_(name), value_(std::move(value)) {
    detail::construct(shadow_);
  }
  var(const var&) = delete;
  var& operator=(const var&) = delete;
  ~var() { detail::retire(shadow_); }

  const T& read(site where = site::current()) const {
    detail::plain_read(shadow_, where);
    return value_;
  }
  // For reading and writing: counts as a write.
  T& write(site where = site::current()) {
    detail::plain_write(shadow_, where);
    return value_;
  }

  operator const T&() const { return read(site{}); }
  var& operator=(T value) {
    write(site{}) = std::move(value);
    return *this;
  }

 private:
  detail::shadow shadow_;
  T value_;
};

}}}  // namespace hocket::model
