// A listener. A connect leaves the other end of its connection in the queue, with the time of its arrival.
//
// If the queue is full, the connect tries again after a second, two, four and so on, as TCP does.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/io/descriptor.hpp>

#include "io_memory/memory_object.hpp"

#include <list>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_door final : public memory_object {
 public:
  memory_door(std::shared_ptr<memory_medium> on, std::size_t backlog) noexcept
      : memory_object(std::move(on)), backlog_(backlog) {}

  bool is_full() const noexcept { return queue_.size() > backlog_; }
  // Puts this end of a connection into the queue. Returns when it is there. Throws std::bad_alloc.
  time_point admit(std::unique_ptr<memory_object> near);

  call_end call(transfer& what) override;
  void close() noexcept override;

 private:
  struct caller {
    time_point at;
    descriptor end;  // destroyed without the mutex
    memory_object* object;
  };
  bool has_caller() const noexcept;

  const std::size_t backlog_;
  std::list<caller> queue_;
};

}}}  // namespace hocket::detail
