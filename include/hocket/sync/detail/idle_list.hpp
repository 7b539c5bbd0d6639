// The idle objects of a pool: a stack, with the time at which each object was pushed. The oldest is at the bottom.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/time_point.hpp>
#include <hocket/core/wait/seam/strength.hpp>
#include <cstddef>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T>
struct idle_object final : list_node {
  template <class... Args>
  explicit idle_object(Args&&... args) : object(std::forward<Args>(args)...) {}
  T object;
  time_point since{};
};

// Owns an object, or none.
template <class T>
class idle_owner {
 public:
  idle_owner() noexcept = default;
  explicit idle_owner(idle_object<T>* object) noexcept : object_(object) {}
  idle_owner(idle_owner&& other) noexcept : object_(other.release()) {}
  idle_owner& operator=(idle_owner&& other) noexcept {
    idle_owner old(std::move(other));
    std::swap(object_, old.object_);
    return *this;
  }
  ~idle_owner() { delete object_; }

  explicit operator bool() const noexcept { return object_ != nullptr; }
  idle_object<T>* operator->() const noexcept { return object_; }
  idle_object<T>* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  idle_object<T>* object_ = nullptr;
};

template <class T, class Strength>
class idle_list {
 public:
  using owner = idle_owner<T>;

  idle_list() noexcept = default;
  idle_list(const idle_list&) = delete;
  idle_list& operator=(const idle_list&) = delete;
  ~idle_list() { drop(time_point::max()); }

  void push(owner object, time_point since) noexcept {
    object->since = since;
    primitive::locked guard(mutex_);
    objects_.push_back(*object.release());
    ++size_;
  }
  // The object that was pushed last; none: an empty owner.
  owner pop() noexcept {
    primitive::locked guard(mutex_);
    return objects_.empty() ? owner() : take(objects_.back());
  }
  // Destroys the objects that were pushed before `before`; time_point::max(): all. Returns how many.
  std::size_t drop(time_point before) noexcept {
    std::size_t count = 0;
    while (pop_older(before)) ++count;
    return count;
  }
  std::size_t size() const noexcept {
    primitive::locked guard(mutex_);
    return size_;
  }

 private:
  owner pop_older(time_point before) noexcept {
    primitive::locked guard(mutex_);
    if (objects_.empty() || (before != time_point::max() && objects_.front().since >= before)) return {};
    return take(objects_.front());
  }
  owner take(idle_object<T>& object) noexcept {
    list<idle_object<T>>::erase(object);
    --size_;
    return owner(&object);
  }

  mutable typename Strength::mutex mutex_;
  list<idle_object<T>> objects_;  // guarded by mutex_
  std::size_t size_ = 0;          // guarded by mutex_
};

}}}  // namespace hocket::detail
