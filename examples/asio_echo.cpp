// A server of Asio whose sessions are tasks, with a timeout for each read. Its acceptor and its client are chains of
// handlers, as before.
#include <hocket/asio/asio_home.hpp>
#include <hocket/asio/use_hocket.hpp>
#include <hocket/stackless.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

using namespace hocket;
using namespace std::chrono_literals;
using boost::asio::ip::tcp;

namespace {

// Replaces a class with three handlers and a timer.
task<> serve(tcp::socket peer) {
  std::array<char, 256> bytes;
  for (;;) {
    auto size = co_await within(5s, peer.async_read_some(boost::asio::buffer(bytes), use_hocket));
    if (!size) co_return;  // gone, or silent for five seconds
    auto written = co_await boost::asio::async_write(peer, boost::asio::buffer(bytes.data(), *size), use_hocket);
    if (!written) co_return;
  }
}

class server {
 public:
  server(boost::asio::io_context& host, asio_home& home)
      : home_(home), acceptor_(host, {boost::asio::ip::address_v4::loopback(), 0}) {}

  unsigned short port() const { return acceptor_.local_endpoint().port(); }
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket peer) {
      if (!error) spawn(home_, {.name = "session"}, serve, std::move(peer));
    });
  }

 private:
  asio_home& home_;
  tcp::acceptor acceptor_;
};

// Handlers still.
class client {
 public:
  client(boost::asio::io_context& host, unsigned short port) : socket_(host) {
    socket_.async_connect({boost::asio::ip::address_v4::loopback(), port}, [this](boost::system::error_code error) {
      if (!error) ask();
    });
  }
  std::string_view answer() const { return {bytes_.data(), size_}; }

 private:
  void ask() {
    boost::asio::async_write(socket_, boost::asio::buffer("ping", 4), [this](boost::system::error_code, std::size_t) {
      socket_.async_read_some(boost::asio::buffer(bytes_), [this](boost::system::error_code, std::size_t size) {
        size_ = size;
        socket_.close();
      });
    });
  }

  tcp::socket socket_;
  std::array<char, 16> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace

int main() {
  boost::asio::io_context host;
  asio_home home(host);
  server echo(host, home);
  echo.accept();
  client asks(host, echo.port());
  host.run();
  std::printf("%.*s\n", static_cast<int>(asks.answer().size()), asks.answer().data());
  return asks.answer() == "ping" && home.live() == 0 ? 0 : 1;
}
