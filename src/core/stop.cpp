#include <hocket/base/fatal.hpp>
#include <hocket/core/stop.hpp>

namespace hocket::inline HOCKET_ABI {

stop_source::~stop_source() {
  expects(nodes_.empty(), "a stop_source was destroyed while coroutines wait under it",
          "join the coroutines first (a scope does), or let the source outlive them");
}

bool stop_source::request(verdict strength) noexcept {
  expects(strength == verdict::cancelled || strength == verdict::killed, "stop_source::request of another verdict",
          "request verdict::cancelled or verdict::killed");
  {
    locked guard(mutex_);
    if (requested() >= strength) return false;
    // ORDER: release, pairs with the load in requested(): who sees the request sees what led to it.
    strength_.store(static_cast<std::uint8_t>(strength), std::memory_order_release);
  }
  while (stop_node* node = pop()) node->fire(*node, strength);
  return true;
}

verdict stop_source::requested() const noexcept {
  // ORDER: acquire, pairs with the store in request().
  return static_cast<verdict>(strength_.load(std::memory_order_acquire));
}

verdict stop_source::attach(stop_node& node) noexcept {
  locked guard(mutex_);
  verdict strength = requested();
  if (strength == verdict::idle) nodes_.push_back(node);
  return strength;
}

bool stop_source::detach(stop_node& node) noexcept {
  locked guard(mutex_);
  if (!node.linked()) return false;
  nodes_.erase(node);
  return true;
}

stop_node* stop_source::pop() noexcept {
  locked guard(mutex_);
  if (nodes_.empty()) return nullptr;
  stop_node& node = nodes_.front();
  nodes_.pop_front();
  return &node;
}

}  // namespace hocket::inline HOCKET_ABI
