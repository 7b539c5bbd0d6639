// Without a server: the program reports it and succeeds.
#include <hocket/core/sync_wait.hpp>
#include <hocket/redis/connection.hpp>

int main() {
  const auto none = hocket::sync_wait(hocket::redis::connect("127.0.0.1", 1));
  return !none && none.error() == std::errc::connection_refused ? 0 : 1;
}
