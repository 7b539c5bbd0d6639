// The live registry: which coroutines there are, for dumps and debuggers.
//
// Each executor that lists its coroutines has a registry of its own, so that entering and leaving is two stores on one
// thread, without a lock; only where coroutines move between the workers of a pool it takes one, nearly always free.
// The registries of a process form a list, which changes only when a loop comes or goes, and which a debugger finds by
// its name, `hocket::live_registries`, in a live process and in a core file alike.
//
// Who may touch what. The members: the executor's own thread, or under the mutex if shared. The list of registries:
// under its mutex; a debugger reads it while the process stands still, and may then find it half changed.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class executor;

namespace detail {

class registry {
 public:
  // `name` is for people and outlives the registry. `shared`: members may leave on other threads.
  registry(const executor& home, const char* name, bool shared = false) noexcept;
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;
  ~registry();  // no coroutine may be left

  // The coroutines that have begun here and not ended, in the order of their beginning. Added on the executor's own
  // thread; removed there, or of a pool on any of its threads.
  void add(scheduled& member) noexcept {
    if (shared_) return add_locked(member);
    members_.push_back(member);
  }
  void remove(scheduled& member) noexcept {
    if (shared_) return remove_locked(member);
    list<scheduled>::erase(member);
  }
  list<scheduled>& members() noexcept { return members_; }
  // While somebody looks at them who does not know that their threads stand still; only if shared.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

  const executor& home() const noexcept { return home_; }
  const char* name() const noexcept { return name_; }

 private:
  void add_locked(scheduled& member) noexcept;
  void remove_locked(scheduled& member) noexcept;

  const executor& home_;
  const char* const name_;
  list<scheduled> members_;
  const bool shared_;
  thread_mutex mutex_;  // of the members, if shared
  registry* next_ = nullptr;
  registry* previous_ = nullptr;
};

}  // namespace detail

}}  // namespace hocket
