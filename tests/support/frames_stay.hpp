// While it is there, frames do not decay: for tests of loops that are to have nothing to wake up for.
#pragma once
#include <hocket/core/frame_memory.hpp>

namespace hocket_test {

struct frames_stay {
  frames_stay() { hocket::frame_memory_decay(hocket::duration::max()); }
  ~frames_stay() { hocket::frame_memory_decay(hocket::default_frame_memory_decay); }
  frames_stay(const frames_stay&) = delete;
  frames_stay& operator=(const frames_stay&) = delete;
};

}  // namespace hocket_test
