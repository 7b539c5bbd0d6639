#include <hocket/core/observer.hpp>

namespace hocket::inline HOCKET_ABI {

namespace detail {
constinit atomic<observer*> observer_slot{nullptr};
}  // namespace detail

observer* install_observer(observer* watcher) noexcept {
  // ORDER: acq_rel, pairs with the load in installed_observer().
  return detail::observer_slot.exchange(watcher, std::memory_order_acq_rel);
}

}  // namespace hocket::inline HOCKET_ABI
