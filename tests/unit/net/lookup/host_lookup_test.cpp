// Lookups of host names. getaddrinfo(3) is replaced (-Wl,--wrap): it waits as long as the test says.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/net/detail/host_lookup.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/sleep.hpp>

#include <atomic>
#include <condition_variable>
#include <doctest/doctest.h>
#include <mutex>
#include <netdb.h>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;
using detail::resolve_host;

namespace {

// A name that begins with "stuck" waits for open().
struct fake_resolver {
  std::mutex mutex;
  std::condition_variable news;
  bool is_open = false;
  std::atomic<int> waiting{0}, calls{0}, max_waiting{0};

  void wait(const std::string& name) {
    ++calls;
    if (name.rfind("stuck", 0) != 0) return;
    std::unique_lock lock(mutex);
    max_waiting = std::max(max_waiting.load(), ++waiting);
    news.wait(lock, [this] { return is_open; });
    --waiting;
  }
  void set_open(bool open) {
    const std::lock_guard guard(mutex);
    is_open = open;
    news.notify_all();
  }
} resolver;

std::string text_of(const result<std::vector<socket_address>>& found) {
  return found ? found->front().to_string() : found.error().message();
}

}  // namespace

extern "C" {
int __real_getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** first);
int __wrap_getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** first);
int __wrap_getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** first) {
  const std::string name = node;  // read before the wait: the caller may be gone, its copy is not
  resolver.wait(name);
  if (name != node) return EAI_FAIL;
  if (name == "unknown.example") return EAI_NONAME;
  return __real_getaddrinfo("127.0.0.9", service, hints, first);
}
}

TEST_CASE("a numeric address, and a unix socket, need no lookup") {
  const int calls = resolver.calls;
  CHECK(text_of(sync_wait(resolve_host("127.0.0.1", 80))) == "127.0.0.1:80");
  CHECK(text_of(sync_wait(resolve_host("::1", 80))) == "[::1]:80");
  CHECK(text_of(sync_wait(resolve_host("unix:/run/db", 80))) == "unix:/run/db");
  CHECK(resolver.calls == calls);
}

TEST_CASE("a name without an address, an empty name, a zero byte and a wrong port are errors of their own") {
  CHECK(sync_wait(resolve_host("unknown.example", 80)).error() ==
        std::error_code(EAI_NONAME, detail::lookup_category()));
  CHECK(sync_wait(resolve_host("unknown.example", 80)).error() == std::errc::host_unreachable);
  CHECK(sync_wait(resolve_host("", 80)).error() == std::errc::invalid_argument);
  CHECK(sync_wait(resolve_host(std::string("a\0b", 3), 80)).error() == std::errc::invalid_argument);
  CHECK(sync_wait(resolve_host("name", -1)).error() == std::errc::invalid_argument);
  CHECK(sync_wait(resolve_host("name", 65536)).error() == std::errc::invalid_argument);
}

TEST_CASE(
    "64 stuck lookups hold up neither the loop nor a numeric address, and their waiters leave at their deadline") {
  resolver.set_open(false);
  loop lp;
  std::vector<join_handle<result<std::vector<socket_address>>>> stuck;
  for (int i = 0; i < 64; ++i)
    stuck.push_back(spawn(lp, [i] {
      return within(50ms, resolve_host("stuck-with-a-name-that-is-not-short-" + std::to_string(i), 80));
    }));
  auto numeric = spawn(lp, [] { return resolve_host("127.0.0.1", 80); });
  lp.run();  // ends, although no lookup has ended
  CHECK(text_of(sync_wait(numeric)) == "127.0.0.1:80");
  for (auto& each : stuck) CHECK(sync_wait(each).error() == std::errc::timed_out);
  CHECK(resolver.max_waiting <= static_cast<int>(detail::max_lookups));
  CHECK(resolver.waiting > 0);
  const int calls = resolver.calls;
  resolver.set_open(true);
  CHECK(text_of(sync_wait(resolve_host("name", 81))) == "127.0.0.9:81");  // behind them in the queue
  CHECK(resolver.calls == calls + 1);  // a lookup that was queued and left is not begun
}
