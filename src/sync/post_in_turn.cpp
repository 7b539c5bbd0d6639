#include <hocket/core/thread/seam/current.hpp>
#include <hocket/primitive.hpp>
#include <hocket/sync/seam/post_in_turn.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void post_in_turn(grants&& served) noexcept {
  if (served.empty()) return;
  void*& slot = current_slot(thread_slot::posting);
  if (slot) return static_cast<grants*>(slot)->add(std::move(served));
  slot = &served;
  served.post();
  slot = nullptr;
}

}}}  // namespace hocket::detail
