// model::var<T>: plain data whose accesses are checked. Two accesses of which one writes must be ordered by happens
// before; the checker reports the pair that is not, in whatever order they happened to run.
//
// Accesses are not points at which another thread may run: in a program without races nobody could tell, and a race is
// found from any schedule that has the same synchronisation.
#pragma once
#include <hocket/model/detail/cell.hpp>
#include <utility>

namespace hocket::inline HOCKET_HOST_ABI::model {

template <class T>
class var {
  using place = detail::place;

 public:
  var(T value = T{}, const char* name = nullptr) : cell_(name), value_(std::move(value)) { detail::construct(cell_); }
  var(const var&) = delete;
  var& operator=(const var&) = delete;
  ~var() { detail::retire(cell_); }

  const T& read(place where = place::current()) const {
    detail::plain_read(cell_, where);
    return value_;
  }
  // For reading and writing: counts as a write.
  T& write(place where = place::current()) {
    detail::plain_write(cell_, where);
    return value_;
  }

  operator const T&() const { return read(place{}); }
  var& operator=(T value) {
    write(place{}) = std::move(value);
    return *this;
  }

 private:
  detail::cell cell_;
  T value_;
};

}  // namespace hocket::inline HOCKET_HOST_ABI::model
