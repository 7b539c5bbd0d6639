// The operation of socket_stream::close_gracefully().
#pragma once
#include <hocket/io/seam/transfer_operation.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// try_now() shuts down writing. Then the operation waits as a read that discards its bytes.
struct graceful_close_operation : transfer_operation {
  static constexpr bool needs_several_calls = true;
  using value_type = void;
  explicit graceful_close_operation(open_descriptor& record) noexcept
      : transfer_operation(record.in, call_kind::discard, nullptr, 0) {}

  bool try_now() noexcept {
    if (const int error_number = shut_down_writing()) {
      fail(error_number);
      return true;
    }
    return transfer_operation::try_now();
  }
  bool has_it() const noexcept { return ended != 0; }
  result<void> take() noexcept;

 private:
  int shut_down_writing() noexcept;
};

}}}  // namespace hocket::detail
