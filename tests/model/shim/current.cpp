// src/core/current.cpp as seen by library sources under the model: the threads of a model test are one real thread, so
// what is `thread_local` in the library is here an array with a place for each of them, empty in every execution.
#include <hocket/core/current.hpp>
#include <hocket/model/explore.hpp>

#include <array>
#include <exception>
#include <utility>

namespace hocket::inline HOCKET_ABI {

thread_state& this_thread() noexcept {
  static std::array<thread_state, 16> states;
  static std::uint64_t execution = 0;
  if (auto present = model::execution_number(); execution != present) {
    execution = present;
    states.fill({});
  }
  return states[model::thread_index()];
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
