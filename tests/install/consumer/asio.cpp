#include <hocket/asio/asio_home.hpp>
#include <hocket/asio/use_hocket.hpp>
#include <boost/asio/steady_timer.hpp>

int main() {
  boost::asio::io_context host;
  hocket::asio_home home(host);
  boost::asio::steady_timer timer(host, std::chrono::microseconds(1));
  auto wait = timer.async_wait(hocket::use_hocket);
  std::move(wait).discard();
  return host.run() == 0 && home.live() == 0 ? 0 : 1;
}
