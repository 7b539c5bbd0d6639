// Whether an operation was awaited, at check level `debug`.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <bool checks>
class awaited_mark {
 public:
  void set() noexcept { set_ = true; }
  bool is_set() const noexcept { return set_; }

 private:
  bool set_ = false;
};
template <>
class awaited_mark<false> {
 public:
  void set() noexcept {}
  static bool is_set() noexcept { return true; }
};

}}}  // namespace hocket::detail
