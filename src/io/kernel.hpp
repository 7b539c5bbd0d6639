// The backend of the kernel's descriptors: it makes a system call for each operation.
#pragma once
#include <hocket/io/seam/backend.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class kernel final : public backend {
 public:
  constexpr kernel() noexcept = default;
  static kernel& instance() noexcept;

  const char* name() const noexcept override { return "kernel"; }
  call_end carry_out(open_descriptor& record, transfer& operation) noexcept override;
  result<io_driver*> driver_here() noexcept override;
  void close(open_descriptor& record) noexcept override;
  int set_option(open_descriptor& record, int level, int name, const void* value, std::size_t size) noexcept override;
  int get_option(open_descriptor& record, int level, int name, void* value, std::size_t& size) noexcept override;
  int shut_down(open_descriptor& record, int directions) noexcept override;
  int address_of(open_descriptor& record, socket_side which, void* into, std::size_t& size) noexcept override;
  std::size_t unsent(open_descriptor& record) noexcept override;
};

}}}  // namespace hocket::detail
