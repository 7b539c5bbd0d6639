// The live registry: which coroutines there are, for dumps and debuggers.
//
// Each executor that lists its coroutines has a registry of its own, so that entering and leaving is two stores on one
// thread, without a lock. The registries of a process form a list, which changes only when a loop comes or goes, and
// which a debugger finds by its name, `hocket::live_registries`, in a live process and in a core file alike.
//
// Who may touch what. The members: the executor's own thread. The list of registries: under its mutex; a debugger reads
// it while the process stands still, and may then find it half changed.
#pragma once
#include <hocket/base/mutex.hpp>
#include <hocket/core/scheduled.hpp>

namespace hocket::inline HOCKET_ABI {

class executor;

class registry {
 public:
  // `name` is for people and outlives the registry.
  registry(const executor& home, const char* name) noexcept;
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;
  ~registry();  // no coroutine may be left

  // The coroutines that have begun and not ended, in the order of their beginning.
  void add(scheduled& member) noexcept { members_.push_back(member); }
  list<scheduled>& members() noexcept { return members_; }

  const executor& home() const noexcept { return home_; }
  const char* name() const noexcept { return name_; }

 private:
  const executor& home_;
  const char* const name_;
  list<scheduled> members_;
  registry* next_ = nullptr;
  registry* previous_ = nullptr;
};

// The registries of the process, the newest first. Never destroyed: a loop may be older than any static object.
struct registry_list {
  registry* first = nullptr;  // the first word, so that a debugger needs no more than the symbol
  thread_mutex mutex;
};
extern registry_list live_registries;

}  // namespace hocket::inline HOCKET_ABI
