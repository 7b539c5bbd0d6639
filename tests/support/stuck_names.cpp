#include "support/stuck_names.hpp"

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <netdb.h>
#include <string_view>

namespace {

std::mutex mutex;
std::condition_variable changed;
bool is_stuck = false;
std::size_t waiting = 0;

using function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);

int wait_until_unstuck() {
  std::unique_lock lock(mutex);
  ++waiting;
  changed.wait(lock, [] { return !is_stuck; });
  --waiting;
  changed.notify_all();
  return EAI_NONAME;
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
  const std::string_view name = host ? host : "";
  const bool is_numeric_only = hints && (hints->ai_flags & AI_NUMERICHOST) != 0;
  if (name == "stuck.test" && !is_numeric_only) return wait_until_unstuck();
  if (name == "two.test" && !is_numeric_only) return two_addresses(real, service, hints, found);
  if (name == "unknown.test") return EAI_NONAME;
  return real(host, service, hints, found);
}

namespace hocket_test {

stuck_names::stuck_names() {
  const std::lock_guard lock(mutex);
  is_stuck = true;
}
stuck_names::~stuck_names() {
  std::unique_lock lock(mutex);
  is_stuck = false;
  changed.notify_all();
  changed.wait(lock, [] { return waiting == 0; });
}
std::size_t stuck_names::running() const {
  const std::lock_guard lock(mutex);
  return waiting;
}

}  // namespace hocket_test
