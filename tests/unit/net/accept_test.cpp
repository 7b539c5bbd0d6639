// A connection that was accepted for a coroutine that does not take it any more.
#include <hocket/net/tcp.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

using namespace hocket;

// As the call of the system gives it.
static detail::open_descriptor* accepted(int number) {
  auto made = detail::descriptor_access::take_over(number, detail::descriptor_kind::stream).value();
  return detail::descriptor_access::release(made);
}

TEST_CASE("a killed accept closes what it has accepted") {
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  detail::accept_operation<tcp::stream> accepts(detail::descriptor_access::record_of(door), true);
  const int number = ::dup(door.native_handle());
  accepts.data = accepted(number);
  accepts.ended = 1;
  accepts.resumed();
  accepts.resumed();
  CHECK(::fcntl(number, F_GETFD) == -1);

  detail::accept_operation<tcp::stream> taken(detail::descriptor_access::record_of(door), true);
  taken.data = accepted(::dup(door.native_handle()));
  taken.ended = 1;
  auto peer = taken.take();
  taken.resumed();
  REQUIRE(peer.has_value());
  CHECK(::fcntl(peer->native_handle(), F_GETFD) != -1);
}
