// promise_kind: how a promised value of one type fails.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The address identifies the type.
struct promise_kind {
  void (*fail)(void* promise, std::error_code error) noexcept;
};

}}}  // namespace hocket::detail
