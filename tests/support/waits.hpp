// Whether an operation waits at a descriptor: a test closes, resets or writes when it does.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/seam/open_descriptor.hpp>

#include <cstddef>
#include <filesystem>
#include <thread>

namespace hocket_test {

inline bool waits(const hocket::descriptor& at) {
  return hocket::detail::descriptor_access::record_of(at).waiting() != 0;
}

// In a coroutine that shares its loop or workers with the operation.
inline hocket::task<> until_waits(const hocket::descriptor& at) {
  while (!waits(at)) static_cast<void>(co_await hocket::yield());
}
// By a thread that shares nothing with it.
inline void block_until_waits(const hocket::descriptor& at) {
  while (!waits(at)) std::this_thread::yield();
}

// How many descriptors this process has.
inline std::size_t open_numbers() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

}  // namespace hocket_test
