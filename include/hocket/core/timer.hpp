// What a deadline registers with: the seam between a wait (core) and a timer wheel (time).
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/list.hpp>

namespace hocket::inline HOCKET_ABI {

// One registration. `fire` runs on the service's own thread, without its lock, at or after `when`, at most once.
struct timer_node : list_node {
  void (*fire)(timer_node& self) noexcept = nullptr;
  time_point when{};
};

class timer_service {
 public:
  // Any thread. `node` is in no service. A `when` in the past fires at the next turn, never inside attach().
  virtual void attach(timer_node& node) noexcept = 0;

  // Any thread. True: the node is out and will not fire. False: it has been popped; it fires, is firing or has fired,
  // so its memory is free only when fire() has said so (in a wait: by dropping its hold).
  [[nodiscard]] virtual bool detach(timer_node& node) noexcept = 0;

 protected:
  ~timer_service() = default;
};

}  // namespace hocket::inline HOCKET_ABI
