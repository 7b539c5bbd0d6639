// What the threads of a model test share, freed where the test says so.
//
// When a bug is found the execution is abandoned in the middle, and the library's destructors would abort, rightly: a
// wait is under way. So what was not freed by then is kept for ever.
#pragma once
#include <memory>
#include <utility>
#include <vector>

namespace hocket_test {

template <class T>
class kept {
 public:
  template <class... Args>
  explicit kept(Args&&... args) : object_(new T(std::forward<Args>(args)...)) {}
  kept(const kept&) = delete;
  kept& operator=(const kept&) = delete;
  ~kept() {
    static auto& reachable = *new std::vector<T*>;  // for the leak checker
    if (object_) reachable.push_back(object_);
  }
  void free() { delete std::exchange(object_, nullptr); }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }

 private:
  T* object_;
};

}  // namespace hocket_test
