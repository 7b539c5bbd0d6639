// What the threads of a model test share, destroyed where the test says so.
//
// Its memory stays until the next execution: a planted use after destruction is for the checker to find, and would else
// be one of freed memory, where a sanitizer stops the program. When a bug is found the execution is abandoned in the
// middle, and the library's destructors would abort, rightly, because a wait is under way: what was not destroyed by
// then never is.
#pragma once
#include <hocket/model/detail/explore.hpp>

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace hocket_test {

namespace detail {

// Memory of objects that were destroyed in this execution, and of those that never will be.
struct graveyard {
  std::uint64_t execution = 0;
  std::vector<void*> destroyed, abandoned;

  static graveyard& get() {
    static auto& it = *new graveyard;  // reachable to the end, for the leak checker
    auto present = hocket::model::execution_number();
    if (std::exchange(it.execution, present) != present) {
      for (void* memory : it.destroyed) ::operator delete(memory);
      it.destroyed.clear();
    }
    return it;
  }
};

}  // namespace detail

template <class T>
class kept {
 public:
  template <class... Args>
  explicit kept(Args&&... args) {
    (void)detail::graveyard::get();
    void* memory = ::operator new(sizeof(T));
    object_ = new (memory) T(std::forward<Args>(args)...);
  }
  kept(const kept&) = delete;
  kept& operator=(const kept&) = delete;
  ~kept() {
    if (object_) detail::graveyard::get().abandoned.push_back(object_);
  }
  void free() {
    T* object = std::exchange(object_, nullptr);
    std::destroy_at(object);
    detail::graveyard::get().destroyed.push_back(object);
  }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }

 private:
  T* object_;
};

}  // namespace hocket_test
