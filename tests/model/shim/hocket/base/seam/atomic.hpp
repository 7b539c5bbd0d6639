// <hocket/base/seam/atomic.hpp> as seen by library sources that are compiled under the model checker: its names,
// the checker's types. This directory comes first in their include path (hocket_model_test in ../CMakeLists.txt), and
// HOCKET_UNDER_MODEL gives them an inline namespace of their own.
#pragma once
#include <hocket/base/seam/time_point.hpp>
#include <hocket/model/detail/atomic.hpp>
#include <hocket/model/detail/explore.hpp>
#include <atomic>
#include <cstdint>
#include <source_location>

namespace hocket { inline namespace HOCKET_ABI {

static_assert(detail::under_model,
              "this is the model checker's <hocket/base/seam/atomic.hpp>: build with hocket_model_test()");

namespace primitive {

template <class T>
using atomic = model::atomic<T>;
using model::fence;

}  // namespace primitive

namespace detail {

using model::futex_wait;
using model::futex_wake_all;
using model::futex_wake_one;

// Under the model there is no time, only that a limit may be reached at any moment, or never.
[[nodiscard]] inline bool futex_wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected,
                                           time_point deadline,
                                           std::source_location where = std::source_location::current()) {
  if (deadline != time_point::max()) return model::futex_wait_timed(word, expected, where);
  futex_wait(word, expected, where);
  return true;
}

inline void prepare_asymmetric_fences() {}
using model::heavy_fence;
using model::light_fence;
inline bool has_asymmetric_fences() noexcept { return true; }
inline void light_fence_where_asymmetric(std::source_location where = std::source_location::current()) {
  light_fence(where);
}

// A hint to the processor that a loop spins is a hint to the checker, too.
inline void cpu_relax(std::source_location where = std::source_location::current()) { model::pause(where); }

}  // namespace detail
}}  // namespace hocket
