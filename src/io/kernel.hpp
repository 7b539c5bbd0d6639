// The kernel's descriptors, as a backend: what an operation asks for becomes a system call.
#pragma once
#include <hocket/io/detail/backend.hpp>

namespace hocket::inline HOCKET_ABI::detail {

class kernel final : public backend {
 public:
  constexpr kernel() noexcept = default;
  static kernel& instance() noexcept;

  call_end carry_out(open_descriptor& at, transfer& what) noexcept override;
  result<io_driver*> driver_here() noexcept override;
  void close(open_descriptor& gone) noexcept override;
};

}  // namespace hocket::inline HOCKET_ABI::detail
