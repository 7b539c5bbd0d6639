// The driver of a network in memory. It sleeps until the next arrival, or moves the network's clock to it.
//
// Access. ring(), recheck(), wake(): any thread. The rest: driver.hpp.
#pragma once
#include <hocket/io/seam/io_driver.hpp>

#include "io_memory/memory_medium.hpp"

#include <memory>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_driver final : public io_driver, private arrival_watcher {
 public:
  memory_driver(std::shared_ptr<memory_medium> network, const driver_owner& owner);
  ~memory_driver() override;

  [[nodiscard]] bool park(time_point until) noexcept override;
  void await_wake() noexcept override;
  void wake() noexcept override { set_flag(wake_flag); }
  void poll() noexcept override;
  bool ends_sleep(time_point until) const noexcept override;
  void assist() noexcept override { poll(); }

 private:
  static constexpr std::uint32_t wake_flag = 1, poll_flag = 2;
  void set_flag(std::uint32_t flag) noexcept;
  // Whether the flag was set.
  bool clear_flag(std::uint32_t flag) noexcept;
  void ring() noexcept override { set_flag(poll_flag); }
  void recheck() noexcept override { set_flag(poll_flag); }
  int start_watching(open_descriptor& record) noexcept override;
  void stop_watching(open_descriptor& record) noexcept override;

  const std::shared_ptr<memory_medium> medium_;
  primitive::atomic<std::uint32_t> flags_{0};
};

}}}  // namespace hocket::detail
