#include <hocket/base/fatal.hpp>
#include <hocket/core/spawn_target.hpp>

#include <array>
#include <cstdio>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

void abort_on_unhandled(std::exception_ptr error, const context& ctx) noexcept {
  std::array<char, 256> message{};
  try {
    std::rethrow_exception(std::move(error));
  } catch (const std::exception& known) {
    std::snprintf(message.data(), message.size(), "an exception left a coroutine that is not joined: %s", known.what());
  } catch (...) {
    std::snprintf(message.data(), message.size(), "an exception left a coroutine that is not joined");
  }
  fatal(message.data(),
        "keep its join_handle and await it, catch in it (a job has no handle), or set the target's on_unhandled",
        ctx.name(), ctx.spawned());
}

}}  // namespace hocket
