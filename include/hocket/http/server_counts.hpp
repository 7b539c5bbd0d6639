// Counts of an HTTP server.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <array>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// Since the start of the server. A connection adds its bytes when it becomes idle or ends.
struct request_counts {
  std::array<std::uint64_t, 6> answers{};  // by the first digit of their status: answers[2] are the 2xx
  std::uint64_t bytes_in = 0;              // of bodies
  std::uint64_t bytes_out = 0;             // of answers, with their heads
};

}}}  // namespace hocket::http
