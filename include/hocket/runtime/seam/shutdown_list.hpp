// The coroutines that a shutdown did not find ended, by name: runtime.hpp, net/serve.hpp, net/service.hpp.
//
//   shutdown_list stopped;
//   rt.shutdown({.drain = 10s, .stopped = &stopped});
//   for (const stopped_coroutine& each : stopped.coroutines) log(each.name, each.spawned);
//
// A coroutine that has not begun is counted by the report of the shutdown, and not named here. If there is no memory
// for the names, they are missing.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

// The step of a shutdown that ended a coroutine; `none`: it has not ended.
enum class shutdown_step : std::uint8_t { cancel, kill, none };

struct stopped_coroutine {
  std::string name;
  std::string spawned;  // the place of the spawn: file:line if its options recorded it, else an address in its module
  bool is_daemon = false;
  shutdown_step step = shutdown_step::none;
};

struct shutdown_list {
  std::vector<stopped_coroutine> coroutines;
};

}}  // namespace hocket
