// The waits that a thread has served while it made grants, and is to grant next; chained, first come first. It stands
// on the stack of who makes the grants, and in a slot of the thread.
#pragma once
#include <hocket/core/current.hpp>
#include <hocket/core/suspension.hpp>
#include <cstddef>

namespace hocket::inline HOCKET_ABI::detail {

// What a waiter wants: a part of its operation.
struct permit_request {
  std::size_t wanted;
  waiter* next = nullptr;  // in the chain of those who are served together

  static permit_request& of(waiter& entry) noexcept { return *static_cast<permit_request*>(entry.resource); }
};

class served_waits {
 public:
  served_waits() noexcept : slot_(current_slot(thread_slot::served_waits)) { slot_ = this; }
  served_waits(const served_waits&) = delete;
  served_waits& operator=(const served_waits&) = delete;
  ~served_waits() { slot_ = nullptr; }

  // That of this thread; null: it makes no grants.
  static served_waits* current() noexcept {
    return static_cast<served_waits*>(current_slot(thread_slot::served_waits));
  }
  void add(waiter* first) noexcept;
  void grant() noexcept;

 private:
  void*& slot_;
  waiter* first_ = nullptr;
  waiter* last_;  // if there is a first
};

}  // namespace hocket::inline HOCKET_ABI::detail
