// The driver of a network in memory: it sleeps until the next arrival, or moves the network's clock there.
//
// Access. ring(), recheck(), wake(): any thread. The rest: driver.hpp.
#pragma once
#include <hocket/io/seam/io_driver.hpp>

#include "io_memory/memory_medium.hpp"

#include <memory>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_driver final : public io_driver, private arrival_watcher {
 public:
  memory_driver(std::shared_ptr<memory_medium> of, const driver_owner& owner);
  ~memory_driver() override;

  [[nodiscard]] bool park(time_point until) noexcept override;
  void await_wake() noexcept override;
  void wake() noexcept override { note(woken); }
  void poll() noexcept override;
  bool ends_sleep(time_point until) const noexcept override;
  void assist() noexcept override { poll(); }

 private:
  static constexpr std::uint32_t woken = 1, rung = 2;
  void note(std::uint32_t what) noexcept;
  bool take(std::uint32_t what) noexcept;
  void ring() noexcept override { note(rung); }
  void recheck() noexcept override { note(rung); }
  int start_watching(open_descriptor& one) noexcept override;
  void stop_watching(open_descriptor& one) noexcept override;

  const std::shared_ptr<memory_medium> of_;
  primitive::atomic<std::uint32_t> noted_{0};
};

}}}  // namespace hocket::detail
