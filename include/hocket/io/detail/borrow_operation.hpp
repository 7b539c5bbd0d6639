// The operation of stream::read_borrowed() and read_idle().
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/io/borrowed_bytes.hpp>
#include <hocket/io/seam/transfer_operation.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Gives bytes in a block that is lent. A block that nobody takes (its coroutine is killed) goes back.
struct borrow_operation : transfer_operation {
  using value_type = borrowed_bytes;
  static constexpr bool is_one_call = true;
  borrow_operation(open_descriptor& owner, bool between_messages) noexcept
      : transfer_operation(owner.in, call_kind::borrow, nullptr, 0) {
    idle = between_messages;
  }

  bool try_now() noexcept {
    if (transfer_operation::try_now()) return true;
    if (idle == 0 || !side->record().ends_when_idle()) [[likely]]
      return false;
    side->record().record_end(stream_end::idle);
    ended = true;
    return true;
  }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    expect_nothing_lent();
    if (idle != 0 && (arm == 0 || sole != 0) && !wait.has_deadline()) begin_idle();
    transfer_operation::begin(wait, entry);
  }
  bool has_it() const noexcept { return ended != 0; }
  result<borrowed_bytes> take() noexcept {
    if (error != 0) [[unlikely]]
      return failure_of_transfer(*this);
    return borrowed_bytes(static_cast<lent_block*>(std::exchange(data, nullptr)), done);
  }
  void resumed() noexcept {
    if (idle == 2) end_idle();
    if (data) lending::give_back(*static_cast<lent_block*>(std::exchange(data, nullptr)));
  }

 private:
  void begin_idle() noexcept;
  void end_idle() noexcept;
  void expect_nothing_lent() const noexcept {
    if constexpr (debug_checks) {
      // ORDER: relaxed, pairs with nothing: a number for a notice.
      if (side->record().lent.load(std::memory_order_relaxed) != 0) [[unlikely]]
        notice(
            "a read waits for bytes to lend while earlier ones are still held: give them back before, so that a "
            "connection owns no buffer while it is idle");
    }
  }
};

}}}  // namespace hocket::detail
