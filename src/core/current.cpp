#include <hocket/core/context.hpp>
#include <hocket/core/current.hpp>

#include <exception>
#include <utility>

namespace hocket::inline HOCKET_ABI {

context& current_context() noexcept {
  context* ctx = this_thread().ctx;
  return ctx ? *ctx : context::root();
}

bool leaving_by_failure() noexcept { return std::uncaught_exceptions() > 0 || this_thread().early_ends != 0; }

running_scope::running_scope(executor* on, context* ctx, run_queue* ready) noexcept
    : outer_executor_(this_thread().running_on),
      outer_ready_(this_thread().ready),
      outer_context_(this_thread().ctx),
      outer_eager_(std::exchange(this_thread().eager, nullptr)) {
  this_thread().running_on = on;
  this_thread().ready = ready;
  this_thread().ctx = ctx;
}

running_scope::~running_scope() {
  this_thread().running_on = outer_executor_;
  this_thread().ready = outer_ready_;
  this_thread().ctx = outer_context_;
  this_thread().eager = outer_eager_;
}

}  // namespace hocket::inline HOCKET_ABI
