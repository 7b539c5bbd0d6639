#include <hocket/base/fatal.hpp>
#include <hocket/core/spawn/seam/registry.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/coroutine_snapshot.hpp>

#include "runtime/platform/code_site.hpp"
#include "runtime/runtime_state.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

bool is_below(const context& ctx, const context* ancestor) noexcept {
  const context* each = &ctx;
  while (each && each != ancestor) each = each->parent();
  return each != nullptr;
}

// A daemon, other than a child of a daemon's scope: the scopes of its target are below the daemons.
bool is_daemon(const scheduled& coroutine) noexcept {
  spawn_target& target = coroutine.target();
  return &target.for_scopes() != &target.for_children();
}

const char* file_name(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

std::string place_of_spawn(const scheduled& coroutine) {
  const std::source_location& recorded = coroutine.spawned();
  std::array<char, 256> text{};
  if (recorded.line() != 0) {
    std::snprintf(text.data(), text.size(), "%s:%u", recorded.file_name(), static_cast<unsigned>(recorded.line()));
  } else if (const void* const code = coroutine.spawned_by()) {
    const code_site site = place_of(code);
    if (site.module) std::snprintf(text.data(), text.size(), "%s+0x%zx", file_name(site.module), site.offset);
    else std::snprintf(text.data(), text.size(), "%p", code);
  }
  return text.data();
}

}  // namespace

coroutine_snapshot::coroutine_snapshot(runtime& from, const context* below) noexcept {
  try {
    for (auto& each : from.state_->workers) {
      registry& members = *each->coroutines();
      const locked guard(members);
      for (const scheduled& member : members.members()) take(member, below);
    }
    sort();
  } catch (const std::bad_alloc&) {
    entries_.clear();
  }
}

coroutine_snapshot::coroutine_snapshot(loop& from, const context* below) noexcept {
  try {
    for (const scheduled& member : from.coroutines()->members()) take(member, below);
    sort();
  } catch (const std::bad_alloc&) {
    entries_.clear();
  }
}

void coroutine_snapshot::sort() noexcept { std::sort(entries_.begin(), entries_.end(), &coroutine_snapshot::is_less); }

void coroutine_snapshot::take(const scheduled& member, const context* below) {
  if (below && !is_below(member, below)) return;
  entries_.push_back({reinterpret_cast<std::uintptr_t>(&member),
                      {member.name(), place_of_spawn(member), is_daemon(member), shutdown_step::none}});
}

bool coroutine_snapshot::contains(const entry& other) const noexcept {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), other, &coroutine_snapshot::is_less);
  return found != entries_.end() && found->address == other.address && found->coroutine.name == other.coroutine.name &&
         found->coroutine.spawned == other.coroutine.spawned;
}

void coroutine_snapshot::add(const entry& added, shutdown_step step, shutdown_list& list) {
  list.coroutines.push_back(added.coroutine);
  list.coroutines.back().step = step;
}

void coroutine_snapshot::add_ended(const coroutine_snapshot& later, shutdown_step step,
                                   shutdown_list& list) const noexcept {
  try {
    for (const entry& each : entries_) {
      if (!later.contains(each)) add(each, step, list);
    }
  } catch (const std::bad_alloc&) {
    notice("there is no memory for the names of the coroutines that a shutdown has stopped");
  }
}

}}}  // namespace hocket::detail
