// The operations of streams and of readiness that no other layer makes.
#pragma once
#include <hocket/io/seam/transfer_operation.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Behind a partial write no other is made (stream.hpp).
struct write_operation : bytes_operation {
  using bytes_operation::bytes_operation;

  bool try_now() noexcept {
    if (side->has_partial_write() && size != 0) [[unlikely]]
      return side->try_behind_cut(*this);
    return bytes_operation::try_now();
  }
};

// All of the bytes are wanted, not just some: it may take several system calls.
template <class Op>
struct whole_operation : Op {
  static constexpr bool is_one_call = false, needs_several_calls = true;
  using Op::Op;
};

enum class looking : std::uint8_t { in, out };

// Readiness takes nothing, so a select may wait for it.
struct look_operation : transfer_operation {
  using value_type = void;
  look_operation(open_descriptor& record, looking awaited) noexcept;
  result<void> take() noexcept {
    if (error != 0) [[unlikely]]
      return failure_of_transfer(error);
    return {};
  }
};

}}}  // namespace hocket::detail
