// The floating-point environments of fibers (spawn_options::own_floating_point).
#pragma once
#include <hocket/fiber/detail/fiber_record.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The scope of a switch to such a fiber, on the resumer's side: meanwhile the fiber's environment is the thread's.
class own_floating_point_scope {
 public:
  explicit own_floating_point_scope(fiber_record& record) noexcept : record_(record) {
    std::fegetenv(&resumers_);
    std::fesetenv(record_.floating_point);
  }
  own_floating_point_scope(const own_floating_point_scope&) = delete;
  own_floating_point_scope& operator=(const own_floating_point_scope&) = delete;
  ~own_floating_point_scope() {
    std::fegetenv(record_.floating_point);
    std::fesetenv(&resumers_);
  }

 private:
  fiber_record& record_;
  std::fenv_t resumers_;
};

}}}  // namespace hocket::detail
