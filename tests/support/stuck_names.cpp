#include "support/stuck_names.hpp"

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <netdb.h>
#include <string>

namespace {

std::mutex mutex;
std::condition_variable changed;
bool is_stuck = false;
std::size_t waiting = 0, lookups = 0, changed_texts = 0;

using function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);

int wait_until_unstuck(const char* host) {
  const std::string name = host;
  std::unique_lock lock(mutex);
  ++waiting;
  changed.wait(lock, [] { return !is_stuck; });
  --waiting;
  if (name != host) ++changed_texts;
  changed.notify_all();
  return name == host ? EAI_NONAME : EAI_FAIL;
}

// freeaddrinfo(3) of glibc frees a list that several calls have made.
int two_addresses(function real, const char* service, const addrinfo* hints, addrinfo** found) {
  addrinfo* second = nullptr;
  if (const int error = real("127.0.0.2", service, hints, found)) return error;
  if (const int error = real("127.0.0.1", service, hints, &second)) return error;
  (*found)->ai_next = second;
  return 0;
}

}  // namespace

extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (!host || (hints && (hints->ai_flags & AI_NUMERICHOST) != 0)) return real(host, service, hints, found);
  const std::string name = host;
  {
    const std::lock_guard lock(mutex);
    ++lookups;
  }
  if (name.starts_with("stuck")) return wait_until_unstuck(host);
  if (name == "two.test") return two_addresses(real, service, hints, found);
  if (name == "unknown.test") return EAI_NONAME;
  return real(host, service, hints, found);
}

namespace hocket_test {

stuck_names::stuck_names() {
  const std::lock_guard lock(mutex);
  is_stuck = true;
}
stuck_names::~stuck_names() { release(); }
void stuck_names::release() {
  std::unique_lock lock(mutex);
  is_stuck = false;
  changed.notify_all();
  changed.wait(lock, [] { return waiting == 0; });
}
std::size_t stuck_names::running() const {
  const std::lock_guard lock(mutex);
  return waiting;
}

std::size_t lookups_so_far() {
  const std::lock_guard lock(mutex);
  return lookups;
}
std::size_t changed_names() {
  const std::lock_guard lock(mutex);
  return changed_texts;
}

}  // namespace hocket_test
