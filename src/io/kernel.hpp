// The kernel's descriptors, as a backend: what an operation asks for becomes a system call.
#pragma once
#include <hocket/io/seam/backend.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class kernel final : public backend {
 public:
  constexpr kernel() noexcept = default;
  static kernel& instance() noexcept;

  const char* name() const noexcept override { return "kernel"; }
  call_end carry_out(open_descriptor& at, transfer& what) noexcept override;
  result<io_driver*> driver_here() noexcept override;
  void close(open_descriptor& gone) noexcept override;
  int set_option(open_descriptor& at, int level, int name, const void* value, std::size_t size) noexcept override;
  int get_option(open_descriptor& at, int level, int name, void* value, std::size_t& size) noexcept override;
  int shut_down(open_descriptor& at, int how) noexcept override;
  int address_of(open_descriptor& at, socket_side which, void* into, std::size_t& size) noexcept override;
  std::size_t unsent(open_descriptor& at) noexcept override;
};

}}}  // namespace hocket::detail
