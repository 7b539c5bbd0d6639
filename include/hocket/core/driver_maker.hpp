// Who makes the drivers of a runtime's workers (core/driver.hpp).
#pragma once
#include <hocket/base/platform/unique_ptr.hpp>
#include <hocket/core/driver.hpp>
#include <cstddef>

namespace hocket::inline HOCKET_ABI {

// Used while the runtime is constructed.
class driver_maker {
 public:
  // On the thread of that worker, which will use it: what belongs to a thread may be made here. One at a time, in the
  // order of the workers. Not null. What it throws comes out of the runtime's constructor.
  virtual std::unique_ptr<driver> make(std::size_t worker) = 0;

 protected:
  ~driver_maker() = default;
};

}  // namespace hocket::inline HOCKET_ABI
