// current_context() of src/core/current.cpp, for models that have contexts.
#include <hocket/core/context.hpp>
#include <hocket/core/current.hpp>

namespace hocket::inline HOCKET_ABI {

context& current_context() noexcept {
  context* own = this_thread().ctx;
  return own ? *own : context::root();
}

}  // namespace hocket::inline HOCKET_ABI
