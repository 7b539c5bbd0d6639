// Two sockets that are connected, and what the tests read from them.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <string_view>

namespace hocket_test {

namespace net = boost::asio;
using stream = net::local::stream_protocol::socket;

struct connected {
  explicit connected(net::io_context& host) : near(host), far(host) { net::local::connect_pair(near, far); }
  void send(std::string_view text) { net::write(far, net::buffer(text)); }
  stream near, far;
};

}  // namespace hocket_test
