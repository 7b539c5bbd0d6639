// A part of a layer alone.
#include <hocket/core/frame_memory.hpp>

int main() {
  const hocket::frame_memory_statistics usage = hocket::frame_memory_usage();
  return usage.held == 0 ? 0 : 1;
}
