// The live registry: the list of the coroutines of an executor, for dumps and debuggers.
//
// Each executor that lists its coroutines has its own registry. So a coroutine enters and leaves by two stores on one
// thread, without a lock. If coroutines move between the workers of a pool, the registry is shared and takes a lock,
// which is nearly always free. The registries of a process form a list, which changes only when a loop is created or
// destroyed. A debugger finds that list by its name, `hocket::live_registries`, in a live process and in a core file
// alike.
//
// Thread safety. The members: the executor's own thread, or under the mutex if shared. The list of registries: under
// its mutex; a debugger reads it while the process is stopped, and may find it half changed.
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
  ~registry();  // must be empty

  // The coroutines that have begun here and not ended, in the order of their beginning. Added on the executor's own
  // thread; removed there, or for a pool on any of its threads.
  void add(scheduled& member) noexcept {
    if (shared_) return add_locked(member);
    members_.push_back(member);
  }
  void remove(scheduled& member) noexcept {
    if (shared_) return remove_locked(member);
    list<scheduled>::erase(member);
  }
  list<scheduled>& members() noexcept { return members_; }
  // For a reader that cannot rely on stopped threads; only if shared.
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
