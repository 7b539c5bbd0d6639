#include <hocket/core/context.hpp>
#include <hocket/core/current.hpp>

#include <exception>

namespace hocket::inline HOCKET_ABI {

context& current_context() noexcept {
  context* ctx = this_thread().ctx;
  return ctx ? *ctx : context::root();
}

bool leaving_by_failure() noexcept { return std::uncaught_exceptions() > 0 || this_thread().early_ends != 0; }

}  // namespace hocket::inline HOCKET_ABI
