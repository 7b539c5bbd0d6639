// The part of a channel that does not depend on the type of its items: its waiters and its end. The essay is in
// sync/channel.hpp.
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A sender or a receiver, within its operation. waiter::resource points to it during the wait. The mutex of the channel
// guards it while its waiter is linked; otherwise it belongs to its owner alone.
class channel_party {
 public:
  // The storage has the item of a sender in `waits`, and of a receiver in `done`.
  enum class phase : std::uint8_t { begun, waits, done };

  explicit channel_party(bool is_receiver) noexcept : receives(is_receiver) {}

  void fail(std::error_code error) noexcept {
    error_ = error.value();
    category_ = &error.category();
  }
  bool failed() const noexcept { return category_ != nullptr; }
  std::error_code error() const noexcept { return {error_, *category_}; }

  bool receives;
  phase state = phase::begun;
  std::uint8_t no_padding[2] = {};  // see core/wait/detail/op_flag.hpp

 private:
  int error_ = 0;
  const std::error_category* category_ = nullptr;
};

template <class Strength>
class channel_core : public wait_source {
 public:
  channel_core(const channel_core&) = delete;
  channel_core& operator=(const channel_core&) = delete;

 protected:
  channel_core() noexcept = default;
  // Grants are posted after the unlock, so no thread is still inside the mutex.
  ~channel_core() {
    debug_expects(senders_.empty() && receivers_.empty(), "a channel was destroyed while it has a waiter",
                  "close() it, and let it outlive its users");
  }

  // A summary of the state, which stays true until the next set_outlook().
  // - sendable: no receiver waits, and the channel is not closed.
  // - bare: there is no item, no sender waits, and the channel is not closed.
  // - unknown: the state must be read under the mutex.
  enum class outlook : std::uint8_t { sendable, bare, unknown };

  outlook outlook_hint() const noexcept {
    // ORDER: relaxed, pairs with the store in set_outlook(): outside of the mutex a hint.
    return outlook_.load(std::memory_order_relaxed);
  }
  // Under the mutex.
  void set_outlook(outlook now) noexcept {
    // ORDER: relaxed, pairs with the load in outlook_hint(), as above.
    outlook_.store(now, std::memory_order_relaxed);
  }
  void update_after_push() noexcept {
    set_outlook(receivers_.empty() && !closed_ ? outlook::sendable : outlook::unknown);
  }

  static channel_party& party_of(waiter& entry) noexcept { return *static_cast<channel_party*>(entry.resource); }

  // Under the mutex: grants the first waiter that can be granted, and unlinks it. Null: there is none.
  static waiter* grant_first(wait_queue& queue, grants& granted) noexcept;

  // Under the mutex: the same, and decides `wait`, whose waiter `entry` would be linked on the other side.
  waiter* meet(wait_queue& queue, suspension& wait, waiter& entry, grants& granted) noexcept;

  // False: the channel was closed before.
  bool close(std::error_code error) noexcept;

  bool detach(waiter& entry) noexcept override;

  mutable typename Strength::mutex mutex_;
  // Guarded by mutex_:
  wait_queue senders_;
  wait_queue receivers_;
  bool closed_ = false;
  std::error_code close_error_;
  typename Strength::template word<outlook> outlook_{outlook::sendable};  // written under mutex_

 private:
  const char* what() const noexcept override { return "a channel"; }
  void fail_all(wait_queue& queue, grants& granted) noexcept;
};

extern template class channel_core<strength::shared>;
extern template class channel_core<strength::unsync>;

}}}  // namespace hocket::detail
