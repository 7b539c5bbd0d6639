#include <hocket/base/fatal.hpp>
#include <hocket/core/stop_link.hpp>

namespace hocket::inline HOCKET_ABI {

static_assert(alignof(stop_node) > 7, "the word has room for a node's address and three bits");

stop_source::word stop_source::bits_of(verdict strength) noexcept {
  return strength == verdict::idle ? 0 : strength == verdict::cancelled ? cancel_bit : kill_bit;
}

verdict stop_source::attach_to_list(stop_node& node, verdict above) noexcept {
  locked guard(mutex_);
  verdict strength = requested();
  if (strength > above) return strength;
  (above == verdict::idle ? open_ : shielded_).push_back(node);
  return verdict::idle;
}

bool stop_source::detach_from_list(stop_node& node) noexcept {
  locked guard(mutex_);
  if (!node.linked()) return false;
  unlink(node);
  return true;
}

// --- a request

bool stop_source::request(verdict strength, bool by_deadline) noexcept {
  expects(strength == verdict::cancelled || strength == verdict::killed, "stop_source::request of another verdict",
          "request verdict::cancelled or verdict::killed");
  if (!raise(strength, by_deadline)) return false;
  for (stop_link::place at{this, nullptr};;) {
    stop_node* node = at.source->pop(strength);
    if (node && node->fire) node->fire(*node, strength);
    else if (node) static_cast<stop_link&>(*node).descend(at, strength);
    else if (at.way) at.way->ascend(at, strength);
    else return true;
  }
}

// True: now as much is requested, and this call made it so.
bool stop_source::raise(verdict strength, bool by_deadline) noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: what is requested is raised under the mutex.
  const word seen = word_.load(std::memory_order_relaxed);
  if (is_apart(seen)) return raise_apart(seen, strength, by_deadline);
  const verdict before = strength_of(seen);
  if (before >= strength) return false;
  if (before == verdict::idle) note_reason(by_deadline);
  // ORDER: release, pairs with the load in requested() and attach(): a reader of the request sees its cause.
  word_.fetch_add(bits_of(strength) - bits_of(before), std::memory_order_release);
  return true;
}

// A node to be fired, or a borrowed link.
stop_node* stop_source::pop(verdict strength) noexcept {
  if (stop_node* node = pop_slot(strength)) return node;
  locked guard(mutex_);
  bool kill = strength == verdict::killed;
  short_list<stop_node>& from = open_.empty() && kill ? shielded_ : open_;
  if (from.empty()) return nullptr;
  stop_node& node = from.pop_front();
  if (!node.fire) {
    static_cast<stop_link&>(node).borrow();
    if (!kill) shielded_.push_back(node);
  }
  return &node;
}

stop_node* stop_source::pop_slot(verdict strength) noexcept {
  // ORDER: relaxed, pairs with nothing: not older than this thread's own raise(), after which no node of this kind
  // comes.
  word seen = word_.load(std::memory_order_relaxed);
  while (node_of(seen) && (strength == verdict::killed || !(seen & shield))) {
    // ORDER: acquire, pairs with the compare-exchange in attach(): what the node's owner wrote to it is visible.
    if (word_.compare_exchange_weak(seen, seen & strength_bits, std::memory_order_acquire, std::memory_order_relaxed))
      return node_of(seen);
  }
  return nullptr;
}

}  // namespace hocket::inline HOCKET_ABI
