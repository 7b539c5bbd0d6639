#include <hocket/core/observer.hpp>

namespace hocket::inline HOCKET_ABI {

constinit atomic<observer*> detail::observer_slot{nullptr};

observer* install_observer(observer* watcher) noexcept {
  // ORDER: acq_rel, pairs with the load in installed_observer().
  return detail::observer_slot.exchange(watcher, std::memory_order_acq_rel);
}

}  // namespace hocket::inline HOCKET_ABI
