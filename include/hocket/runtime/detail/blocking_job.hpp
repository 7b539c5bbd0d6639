// blocking_job: the part of a blocking call that its pool knows.
#pragma once
#include <hocket/core/executor.hpp>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct blocking_job {
  void (*run)(blocking_job& self) noexcept;
  std::error_code refusal{};
  const executor* caller = nullptr;  // the executor of the waiting coroutine
};

}}}  // namespace hocket::detail
