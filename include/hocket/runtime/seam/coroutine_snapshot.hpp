// The coroutines that a shutdown did not find ended, by name (runtime.hpp, net/serve.hpp, net/service.hpp), and the
// snapshots from which a shutdown makes that list.
//
//   shutdown_list stopped;
//   rt.shutdown({.drain = 10s, .stopped = &stopped});
//   for (const stopped_coroutine& each : stopped.coroutines) log(each.name, each.spawned);
//
// A coroutine that has not begun is counted by the report of the shutdown, and not named here. If there is no memory
// for the names, they are missing.
//
// A coroutine_snapshot has the coroutines that are there at one moment. A snapshot copies what never changes of a
// coroutine. On a runtime it does so under the locks of the registries, one worker after the other, while the workers
// run: a task that moves meanwhile is found once, because it stays in the registry where it began. On a loop it is
// taken on the loop's thread.
//
// Two snapshots know a coroutine by its address. If another coroutine gets the address in between, it is taken for the
// same, unless its name or place differs.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

class context;
class loop;
class runtime;

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

namespace detail {

class scheduled;

class coroutine_snapshot {
 public:
  coroutine_snapshot() noexcept = default;
  // Of the coroutines whose context is below `below`; null: of all. Empty if there is no memory.
  coroutine_snapshot(runtime& from, const context* below) noexcept;
  coroutine_snapshot(loop& from, const context* below) noexcept;

  // Adds the coroutines that `later` lacks, as ended by `step`.
  void add_ended(const coroutine_snapshot& later, shutdown_step step, shutdown_list& list) const noexcept;
  // Adds all as left.
  void add_remaining(shutdown_list& list) const noexcept { add_ended({}, shutdown_step::none, list); }

 private:
  struct entry {
    std::uintptr_t address;
    stopped_coroutine coroutine;
  };
  static bool is_less(const entry& first, const entry& second) noexcept { return first.address < second.address; }
  void take(const scheduled& member, const context* below);
  void sort() noexcept;
  bool contains(const entry& other) const noexcept;
  static void add(const entry& entry, shutdown_step step, shutdown_list& list);

  std::vector<entry> entries_;
};

}  // namespace detail

}}  // namespace hocket
