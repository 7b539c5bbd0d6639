// A flag in an operation, of a whole word, because an operation has no padding (core/wait/seam/operation.hpp).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class op_flag {
 public:
  constexpr op_flag(bool set = false) noexcept : word_(set) {}
  constexpr operator bool() const noexcept { return word_ != 0; }

 private:
  std::uintptr_t word_;
};

}}}  // namespace hocket::detail
