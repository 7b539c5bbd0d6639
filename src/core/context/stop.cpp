#include <hocket/base/fatal.hpp>
#include <hocket/core/context/seam/stop_link.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

static_assert(alignof(stop_node) > 7, "the word has room for a node's address and three bits");

stop_level stop_source::attach_to_list(stop_node& node, min_stop_level weakest) noexcept {
  locked guard(mutex_);
  const stop_level level = requested();
  if (level > strongest_ignored(weakest)) return level;
  (weakest == min_stop_level::cancel ? open_ : shielded_).push_back(node);
  return stop_level::none;
}

bool stop_source::detach_from_list(stop_node& node) noexcept {
  locked guard(mutex_);
  if (!node.linked()) return false;
  unlink(node);
  return true;
}

// --- a request

bool stop_source::request(stop_level level, bool by_deadline) noexcept {
  if (level == stop_level::none) return false;
  if (!raise(level, by_deadline)) return false;
  for (stop_link::position walk{this, nullptr};;) {
    stop_node* node = walk.source->pop(level);
    if (node && node->fire) node->fire(*node, level);
    else if (node) static_cast<stop_link&>(*node).descend(walk, level);
    else if (walk.borrowed) walk.borrowed->ascend(walk, level);
    else return true;
  }
}

// True: this call has raised the request to this level.
bool stop_source::raise(stop_level level, bool by_deadline) noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: requests are raised under the mutex.
  const word current = word_.load(std::memory_order_relaxed);
  if (is_apart(current)) return raise_apart(current, level, by_deadline);
  const stop_level before = level_of(current);
  if (before >= level) return false;
  if (before == stop_level::none) record_reason(by_deadline);
  // ORDER: release, pairs with the load in requested() and attach(): a reader of the request sees its cause.
  word_.fetch_add(bits_of(level) - bits_of(before), std::memory_order_release);
  return true;
}

// If a node is attached to the slot meanwhile, the exchange fails. A node for a list waits for the mutex.
bool stop_source::withdraw_cancel() noexcept {
  locked guard(mutex_);
  word cancelled = cancel_bit;
  if (!open_.empty() || !shielded_.empty()) return false;
  // ORDER: relaxed, pairs with nothing: a node that is attached before or after it belongs to either order.
  return word_.compare_exchange_strong(cancelled, 0, std::memory_order_relaxed, std::memory_order_relaxed);
}

// Returns a node to fire, or a borrowed link.
stop_node* stop_source::pop(stop_level level) noexcept {
  if (stop_node* node = pop_slot(level)) return node;
  locked guard(mutex_);
  bool kill = level == stop_level::kill;
  short_list<stop_node>& from = open_.empty() && kill ? shielded_ : open_;
  if (from.empty()) return nullptr;
  stop_node& node = from.pop_front();
  if (!node.fire) {
    static_cast<stop_link&>(node).borrow();
    if (!kill) shielded_.push_back(node);
  }
  return &node;
}

stop_node* stop_source::pop_slot(stop_level level) noexcept {
  // ORDER: relaxed, pairs with nothing: not older than this thread's own raise(), after which no node of this kind is
  // attached.
  word current = word_.load(std::memory_order_relaxed);
  while (node_of(current) && (level == stop_level::kill || !(current & shielded))) {
    // ORDER: acquire, pairs with the compare-exchange in attach(): what the node's owner wrote to it is visible.
    if (word_.compare_exchange_weak(current, current & level_bits, std::memory_order_acquire,
                                    std::memory_order_relaxed))
      return node_of(current);
  }
  return nullptr;
}

}}  // namespace hocket
