#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/suspension.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

void grants::post_in_turn() noexcept {
  if (empty()) return;
  void*& slot = detail::current_slot(detail::thread_slot::posting);
  if (slot) return static_cast<grants*>(slot)->add(std::move(*this));
  slot = this;
  post();
  slot = nullptr;
}

}}}  // namespace hocket::primitive
