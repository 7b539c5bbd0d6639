// What a call costs outside of hooked fibers, compared with libc's: counted under callgrind, compared by counts.py.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/hook/hook.hpp>
#include <hocket/runtime/loop.hpp>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <sys/socket.h>
#include <valgrind/callgrind.h>

namespace {

using receive_function = ssize_t (*)(int, void*, std::size_t, int);
using lock_function = int (*)(pthread_mutex_t*);

template <class F>
F function_of_libc(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

// A call that fails at once. Called by pointer, like a function of a shared library.
[[gnu::noinline]] void receive(receive_function call, int times) {
  char byte = 0;
  for (int i = 0; i < times; ++i) call(-1, &byte, 1, 0);
}
[[gnu::noinline]] void lock_and_unlock(lock_function call, lock_function back, int times) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < times; ++i) {
    call(&mutex);
    back(&mutex);
  }
}

template <class F>
void count(const char* label, F f) {
  f(100);
  for (const int times : {1000, 3000}) {
    char text[64];
    std::snprintf(text, sizeof text, "%s %d", label, times);
    CALLGRIND_ZERO_STATS;
    f(times);
    CALLGRIND_DUMP_STATS_AT(text);
  }
}

void in_fiber(const char* label, bool hooked, receive_function call) {
  hocket::loop lp;
  hocket::spawn(lp, [&] {
    if (hooked) {
      const hocket::hook::scope in;
      count(label, [&](int times) { receive(call, times); });
    } else {
      count(label, [&](int times) { receive(call, times); });
    }
  });
  lp.run();
}

}  // namespace

int main() {
  const auto libc = function_of_libc<receive_function>("recv");
  if (libc == &::recv) std::abort();
  count("receive", [&](int times) { receive(libc, times); });
  count("receive_on_thread", [](int times) { receive(&::recv, times); });
  in_fiber("receive_in_fiber", false, &::recv);
  in_fiber("receive_in_hooked_fiber", true, &::recv);
  count("lock_and_unlock", [](int times) {
    lock_and_unlock(function_of_libc<lock_function>("pthread_mutex_lock"),
                    function_of_libc<lock_function>("pthread_mutex_unlock"), times);
  });
  const auto hooked_lock = [](int times) { lock_and_unlock(&::pthread_mutex_lock, &::pthread_mutex_unlock, times); };
  count("lock_and_unlock_on_thread", hooked_lock);
  hocket::loop lp;
  hocket::spawn(lp, [] { const hocket::hook::scope in({.mutexes = true}); });
  lp.run();
  count("lock_and_unlock_once_hooked", hooked_lock);
}
