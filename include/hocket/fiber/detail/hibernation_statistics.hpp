// hibernation_statistics: the hibernation figures of one thread (fiber/hibernate.hpp).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

// The hibernation figures of one thread.
struct hibernation_statistics {
  std::size_t packed = 0;       // fibers that hibernate now
  std::size_t image_bytes = 0;  // the size of their saved frames
  std::uint64_t packs = 0;      // since the thread began
  std::uint64_t unpacks = 0;    // the packed fibers that were restored since then
};

}}  // namespace hocket
