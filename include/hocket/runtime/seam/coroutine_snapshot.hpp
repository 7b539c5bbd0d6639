// The coroutines that are there at one moment, for a shutdown that names the coroutines that it stops.
//
// A snapshot copies what never changes of a coroutine. On a runtime it does so under the locks of the registries, one
// worker after the other, while the workers run: a task that moves meanwhile is found once, because it stays in the
// registry where it began. On a loop it is taken on the loop's thread.
//
// Two snapshots know a coroutine by its address. If another coroutine gets the address in between, it is taken for the
// same, unless its name or place differs.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <hocket/runtime/seam/shutdown_list.hpp>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

class context;
class loop;
class runtime;

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
