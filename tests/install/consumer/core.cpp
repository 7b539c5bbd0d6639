// A layer with parts: its target is their sum.
#include <hocket/core/awaitable.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/sync_wait.hpp>

#include <coroutine>

int main() {
  hocket::stop_source source;
  source.request(hocket::stop_level::cancel);
  hocket::sync_wait(std::suspend_never{});
  return source.requested() == hocket::stop_level::cancel ? 0 : 1;
}
