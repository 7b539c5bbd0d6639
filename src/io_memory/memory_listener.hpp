// A listener. A connect puts the other end of its connection into the queue, with the time of its arrival.
//
// If the queue is full, the connect tries again after 1, 2, 4 seconds and so on, as TCP does.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/io/descriptor.hpp>

#include "io_memory/memory_object.hpp"

#include <list>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_listener final : public memory_object {
 public:
  memory_listener(std::shared_ptr<memory_medium> network, std::size_t backlog) noexcept
      : memory_object(std::move(network)), backlog_(backlog) {}

  bool is_full() const noexcept { return queue_.size() > backlog_; }
  // Queues this end of a connection. Returns the time of its arrival. Throws std::bad_alloc.
  time_point enqueue(std::unique_ptr<memory_object> end);

  call_end call(transfer& operation) override;
  void close() noexcept override;

 private:
  struct connection {
    time_point arrival;
    descriptor end;  // destroyed without the mutex
    memory_object* object;
  };
  bool has_connection() const noexcept;

  const std::size_t backlog_;
  std::list<connection> queue_;
};

}}}  // namespace hocket::detail
