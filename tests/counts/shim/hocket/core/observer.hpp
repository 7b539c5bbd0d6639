// The observer as it would be if there were none: the compiler sees that an event does nothing. tests/counts compiles
// the sources that tell of events with this in place of <hocket/core/observer.hpp>, to see what an observer that is not
// installed costs.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket::inline HOCKET_ABI {

class context;

class observer {
 public:
  virtual void created(const void* frame, const context& ctx) noexcept = 0;
  virtual void suspended(const void* frame, const void* source) noexcept = 0;
  virtual void woken(const void* frame) noexcept = 0;
  virtual void destroyed(const void* frame) noexcept = 0;

 protected:
  ~observer() = default;
};

namespace detail {
constexpr observer* installed_observer() noexcept { return nullptr; }
}  // namespace detail

}  // namespace hocket::inline HOCKET_ABI
