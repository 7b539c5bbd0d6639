// The share of a turn that a connection's coroutine takes while it moves bytes without a wait.
//
// A fast peer always has room for the next bytes of a long answer, and always has sent the next bytes of a long body.
// So no operation waits, and other connections of the worker would be served after the last byte. Therefore the
// coroutine calls add() for the bytes that it has moved, and before the next ones are moved, it spends the budget
// (core/wait/seam/budget.hpp) until is_due() is false:
//
//   while (share.is_due()) {
//     const result<void> turn = co_await share.spend();
//     if (!turn) ...                                      // cancelled, or a deadline has passed; no byte has moved
//   }
//
// The price of a kilobyte is 1. So after 256 KB the coroutine goes through the queue of its executor. Such a run is as
// long as a turn of short ones, and ends the turn: otherwise, the executor would look for events after 64 such runs.
//
// Cost. Short answers add the bytes of a call, and spend nothing for a long time.
//
// Access: one coroutine at a time. A sender and a reader have one each: one coroutine may read the body of a request
// while another one writes the answer.
#pragma once
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/budget.hpp>
#include <hocket/primitive.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class turn_share {
 public:
  // The most that one call moves.
  static constexpr std::size_t max_piece = std::size_t{128} * 1024;

  // A call has moved the bytes. The call itself costs as much as some bytes.
  void add(std::size_t bytes) noexcept { unspent_ += std::max(bytes, bytes_of_call); }
  bool is_due() const noexcept { return unspent_ >= step; }
  // Fails if the coroutine was cancelled, or if its deadline has passed. Both are found when the budget is used up.
  auto spend(call_site site = this_call_site()) noexcept {
    unspent_ -= step;
    hocket::detail::spend_turn(step / bytes_of_call);
    return primitive::operation(hocket::detail::always_possible<step / 1024>(), site);
  }

 private:
  static constexpr std::size_t bytes_of_call = std::size_t{4} * 1024;
  static constexpr std::size_t step = std::size_t{32} * 1024;

  std::size_t unspent_ = 0;  // bytes
};

}}}}  // namespace hocket::http::detail
