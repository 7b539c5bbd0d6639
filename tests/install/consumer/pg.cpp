// Without a server: the program reports it and succeeds.
#include <hocket/core/sync_wait.hpp>
#include <hocket/pg/connection.hpp>

int main() {
  std::string why;
  const auto none = hocket::sync_wait(hocket::pg::connect("host=127.0.0.1 port=1 user=nobody", &why));
  return !none && none.error() == std::errc::connection_refused && !why.empty() ? 0 : 1;
}
