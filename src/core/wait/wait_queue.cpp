#include <hocket/core/wait/seam/wait_queue.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace primitive {

grant wait_queue::claim_first() noexcept {
  for (waiter& entry : *this) {
    if (grant won = entry.claim()) {
      erase(entry);
      return won;
    }
  }
  return {};
}

void wait_queue::claim_all(grants& won) noexcept {
  claim_all(won, [](waiter&) {});
}

}}}  // namespace hocket::primitive
