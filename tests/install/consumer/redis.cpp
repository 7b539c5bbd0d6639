// No server is there: the program says so, and ends well.
#include <hocket/core/sync_wait.hpp>
#include <hocket/redis/connection.hpp>

int main() {
  const auto none = hocket::sync_wait(hocket::redis::connect("127.0.0.1", 1));
  return !none && none.error() == std::errc::connection_refused ? 0 : 1;
}
